package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Workflow is what the Actions runner says of the run. Outside Actions it is
// empty but for the public server.
type Workflow struct {
	Repository  string // owner/name of the repository that the workflow is in
	ServerURL   string // https://github.com, or a GitHub Enterprise Server's
	APIURL      string
	RunURL      string    // of this run or pipeline, empty outside of both
	RunAgain    bool      // this is not the run's first attempt
	Actor       string    // who started it
	SHA         string    // the commit that started it
	Committed   time.Time // when that was committed; zero: not known
	EventName   string
	PullRequest int    // of the event, 0 without one
	Base, Head  string // commits of the event's pull request
	BaseRef     string // branch that it is to be merged into
	HeadRef     string // branch that it comes from
	OfFork      bool   // of another repository
	Closed      bool   // it is merged, or closed without that
	Before      string // the branch's tip before the push that the event is of
	Ref         string // that was pushed to, by its full name
	Workspace   string // folder of the checkout, the current one outside Actions
	Unread      string // why nobody knows what the event is; empty: it is read
	Unmerged    string // what the event is of that nobody has merged; empty: of nothing such
	Untold      bool   // the event does not tell whose PullRequest is
	Deployed    string // the commit of the event's deployment, of which it does not tell whose it is
}

// event is the part of GitHub's event that we read; see
// https://docs.github.com/en/webhooks/webhook-events-and-payloads.
type event struct {
	PullRequest *pullRequest `json:"pull_request"`
	Issue       struct {
		Number      int              `json:"number"`
		PullRequest *json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	WorkflowRun *workflowRun `json:"workflow_run"`
	CheckSuite  *checkSuite  `json:"check_suite"`
	CheckRun    struct {
		CheckSuite *checkSuite `json:"check_suite"`
	} `json:"check_run"`
	Deployment *deployment        `json:"deployment"`
	MergeGroup *json.RawMessage   `json:"merge_group"`
	HeadCommit headCommit         `json:"head_commit"` // of the event push
	Branches   *[]json.RawMessage `json:"branches"`    // of the event status: that have its commit
	Before     string             `json:"before"`      // of the event push
	Ref        string             `json:"ref"`         // of the event push
	Repository repository         `json:"repository"`
}

// workflowRun is another workflow's run. A fork's has no pull requests, and a
// deleted fork's no repository.
type workflowRun struct {
	PullRequests   []pullRequest `json:"pull_requests"`
	HeadRepository repository    `json:"head_repository"`
	HeadBranch     string        `json:"head_branch"`
	HeadCommit     headCommit    `json:"head_commit"`
}

// headCommit is the newest commit of what was pushed, or of another workflow's run.
type headCommit struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
}

// checkSuite is what was checked. A fork's has no branch and no pull requests.
type checkSuite struct {
	HeadBranch   string        `json:"head_branch"`
	PullRequests []pullRequest `json:"pull_requests"`
}

// deployment is of any commit that the forge has, also a fork's: its ref is what whoever deploys says.
type deployment struct {
	SHA string `json:"sha"`
}

type pullRequest struct {
	Number   int    `json:"number"`
	Merged   bool   `json:"merged"`
	MergedAt string `json:"merged_at"` // in the place of merged where a review is told of
	State    string `json:"state"`     // open, closed
	Base     branch `json:"base"`
	Head     branch `json:"head"`
}

type branch struct {
	Ref  string     `json:"ref"`
	SHA  string     `json:"sha"`
	Repo repository `json:"repo"`
}

type repository struct {
	ID int64 `json:"id"`
}

// ReadWorkflow reads the runner's variables and the event. The error is about
// the event; everything else is there all the same.
func ReadWorkflow(getenv func(string) string) (Workflow, error) {
	w := Workflow{
		Repository: getenv("GITHUB_REPOSITORY"),
		ServerURL:  cmp.Or(getenv("GITHUB_SERVER_URL"), "https://github.com"),
		APIURL:     cmp.Or(getenv("GITHUB_API_URL"), "https://api.github.com"),
		Actor:      cmp.Or(getenv("GITHUB_TRIGGERING_ACTOR"), getenv("GITHUB_ACTOR")), // who started it again, first
		SHA:        getenv("GITHUB_SHA"),
		EventName:  getenv("GITHUB_EVENT_NAME"),
		Workspace:  workspace(getenv),
		RunAgain:   cmp.Or(getenv("GITHUB_RUN_ATTEMPT"), "1") != "1",
	}
	if id := getenv("GITHUB_RUN_ID"); id != "" && w.Repository != "" {
		w.RunURL = w.ServerURL + "/" + w.Repository + "/actions/runs/" + id
	} else if w.RunURL = getenv("CI_PIPELINE_URL"); w.RunURL != "" { // GitLab's, whose jobs are those of one pipeline
		w.Actor = getenv("GITLAB_USER_LOGIN")
		if source := getenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID"); source != getenv("CI_MERGE_REQUEST_PROJECT_ID") {
			w.Unmerged, w.OfFork = "a fork's merge request", true
		}
	}
	e, err := readEvent(getenv)
	if err != nil {
		w.Unread = err.Error()
		return w, err
	}
	w.take(e)
	if w.EventName != "" && !slices.Contains(knownEvents, w.EventName) && !e.tells() {
		w.Unread = fmt.Sprintf("the event %s is not known", w.EventName)
	}
	return w, nil
}

// knownEvents are those that start workflows, as https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
// has them. What runs for them is the repository's own, or what is read of them says whose it is.
var knownEvents = []string{
	"branch_protection_rule", "check_run", "check_suite", "create", "delete", "deployment", "deployment_protection_rule", "deployment_review",
	"deployment_status", "discussion", "discussion_comment", "fork", "gollum", "image_version", "issue_comment", "issues", "label", "member",
	"merge_group", "milestone", "page_build", "project", "project_card", "project_column", "public", "pull_request", "pull_request_comment",
	"pull_request_review", "pull_request_review_comment", "pull_request_target", "push", "registry_package", "release", "repository_dispatch",
	"schedule", "status", "watch", "workflow_call", "workflow_dispatch", "workflow_run",
}

// Code is the commit that the workflow runs for, repository@commit; empty
// outside a workflow.
func (w *Workflow) Code() string {
	if w.Repository == "" || w.SHA == "" {
		return ""
	}
	return w.Repository + "@" + w.SHA
}

// workspace is where the runner checks out.
func workspace(getenv func(string) string) string {
	if dir := getenv("GITHUB_WORKSPACE"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return dir
}

// readEvent is empty outside Actions.
func readEvent(getenv func(string) string) (e event, err error) {
	name, file := getenv("GITHUB_EVENT_NAME"), getenv("GITHUB_EVENT_PATH")
	switch {
	case file == "" && name == "":
		return e, nil
	case file == "":
		return e, fmt.Errorf("reading the event %s: GITHUB_EVENT_PATH does not name its file", name)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return e, fmt.Errorf("reading the event: %w", err)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("reading the event %s: %w", file, err)
	}
	return e, nil
}

func (w *Workflow) take(e event) {
	pulls := e.pulls()
	if w.EventName == "push" {
		w.Before, w.Ref = e.Before, e.Ref
	}
	w.Committed = e.committed(w.SHA)
	switch {
	case len(pulls) > 0:
		first := pulls[0]
		w.PullRequest, w.Base, w.Head = first.Number, first.Base.SHA, first.Head.SHA
		w.BaseRef, w.HeadRef, w.Closed = first.Base.Ref, first.Head.Ref, first.State == "closed"
	case e.Issue.PullRequest != nil:
		w.PullRequest, w.Untold = e.Issue.Number, true
	}
	if e.Deployment != nil {
		w.Deployed = cmp.Or(e.Deployment.SHA, "unnamed") // which no branch has
	}
	switch {
	case slices.ContainsFunc(pulls, func(p pullRequest) bool { return p.ofFork(e.Repository) }):
		w.Unmerged, w.OfFork = "a fork's pull request", true
	case e.ofForksCommit():
		w.Unmerged = "a fork's commit"
	case e.MergeGroup != nil:
		w.Unmerged = "a merge queue's commit"
	}
}

// tells whether the event says of a commit or a pull request whose it is, or asks for that.
func (e event) tells() bool {
	return e.PullRequest != nil || e.Issue.PullRequest != nil || e.WorkflowRun != nil || e.suite() != nil || e.Branches != nil ||
		e.Deployment != nil || e.MergeGroup != nil
}

// pulls are the repository's pull requests that the event tells of. A list may
// hold some of a fork that has the commit too.
func (e event) pulls() []pullRequest {
	if e.PullRequest != nil {
		return []pullRequest{*e.PullRequest}
	}
	var all []pullRequest
	if e.WorkflowRun != nil {
		all = e.WorkflowRun.PullRequests
	}
	if suite := e.suite(); suite != nil {
		all = suite.PullRequests
	}
	return slices.DeleteFunc(all, func(p pullRequest) bool { return e.Repository.ID != 0 && p.Base.Repo != e.Repository })
}

// committed is when a commit was made, if the event says it of just that one.
func (e event) committed(sha string) (at time.Time) {
	heads := []headCommit{e.HeadCommit}
	if e.WorkflowRun != nil {
		heads = append(heads, e.WorkflowRun.HeadCommit)
	}
	for _, head := range heads {
		if head.ID == sha && sha != "" {
			at, _ = time.Parse(time.RFC3339, head.Timestamp) // what is no time is not known
		}
	}
	return at
}

func (e event) suite() *checkSuite { return cmp.Or(e.CheckSuite, e.CheckRun.CheckSuite) }

// ofForksCommit says that no branch of the repository has the commit that was
// checked, run or given a status.
func (e event) ofForksCommit() bool {
	run, suite := e.WorkflowRun, e.suite()
	return run != nil && (run.HeadRepository != e.Repository || isNoBranch(run.HeadBranch)) ||
		suite != nil && suite.HeadBranch == "" ||
		e.Branches != nil && len(*e.Branches) == 0
}

// ofFork says that the pull request is not merged, and does not come from a branch of
// the repository itself.
func (p pullRequest) ofFork(own repository) bool {
	return !p.Merged && p.MergedAt == "" && (p.Head.Repo.ID != cmp.Or(own.ID, p.Base.Repo.ID) || isNoBranch(p.Head.Ref))
}

// isNoBranch says that what comes from the repository is of no branch of it: who may only read a repository on Gitea
// opens such a pull request with a push, and it is told to come from there
// (https://docs.gitea.com/usage/agit).
func isNoBranch(head string) bool { return strings.HasPrefix(head, "refs/") }
