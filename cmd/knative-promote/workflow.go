package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
)

// workflow is what the Actions runner says of the run. Outside Actions it is
// empty but for the public server.
type workflow struct {
	Repository  string // owner/name of the repository that the workflow is in
	ServerURL   string // https://github.com, or a GitHub Enterprise Server's
	APIURL      string
	RunURL      string // of this run, empty outside Actions
	RunAgain    bool   // this is not the run's first attempt
	Actor       string // who started it
	SHA         string // the commit that started it
	EventName   string
	PullRequest int    // of the event, 0 without one
	Base, Head  string // commits of the event's pull request
	Workspace   string // folder of the checkout, the current one outside Actions
	Fork        bool   // the event's pull request is a fork's and not merged
}

// event is the part of GitHub's event that we read; see
// https://docs.github.com/en/webhooks/webhook-events-and-payloads.
type event struct {
	PullRequest *pullRequest `json:"pull_request"`
	Issue       struct {
		Number      int              `json:"number"`
		PullRequest *json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	WorkflowRun struct {
		PullRequests   []pullRequest `json:"pull_requests"` // empty for a fork's
		HeadRepository repository    `json:"head_repository"`
	} `json:"workflow_run"`
	Repository repository `json:"repository"`
}

type pullRequest struct {
	Number int    `json:"number"`
	Merged bool   `json:"merged"`
	Base   branch `json:"base"`
	Head   branch `json:"head"`
}

type branch struct {
	SHA  string     `json:"sha"`
	Repo repository `json:"repo"`
}

type repository struct {
	ID int64 `json:"id"`
}

// readWorkflow reads the runner's variables and the event. The error is about
// the event; everything else is there all the same.
func readWorkflow(getenv func(string) string) (workflow, error) {
	w := workflow{
		Repository: getenv("GITHUB_REPOSITORY"),
		ServerURL:  cmp.Or(getenv("GITHUB_SERVER_URL"), "https://github.com"),
		APIURL:     cmp.Or(getenv("GITHUB_API_URL"), "https://api.github.com"),
		Actor:      getenv("GITHUB_ACTOR"),
		SHA:        getenv("GITHUB_SHA"),
		EventName:  getenv("GITHUB_EVENT_NAME"),
		Workspace:  workspace(getenv),
		RunAgain:   cmp.Or(getenv("GITHUB_RUN_ATTEMPT"), "1") != "1",
	}
	if id := getenv("GITHUB_RUN_ID"); id != "" && w.Repository != "" {
		w.RunURL = w.ServerURL + "/" + w.Repository + "/actions/runs/" + id
	}
	name := getenv("GITHUB_EVENT_PATH")
	if name == "" {
		return w, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return w, fmt.Errorf("reading the event: %w", err)
	}
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		return w, fmt.Errorf("reading the event %s: %w", name, err)
	}
	w.take(e)
	return w, nil
}

// source is the commit that the workflow runs for, repository@commit; empty
// outside a workflow.
func (w *workflow) source() string {
	if w.Repository == "" || w.SHA == "" {
		return ""
	}
	return w.Repository + "@" + w.SHA
}

func (w *workflow) take(e event) {
	pr := e.PullRequest
	if runs := e.WorkflowRun.PullRequests; pr == nil && len(runs) > 0 {
		pr = &runs[0]
	}
	switch {
	case pr != nil:
		w.PullRequest, w.Base, w.Head = pr.Number, pr.Base.SHA, pr.Head.SHA
		w.Fork = !pr.Merged && pr.Head.Repo.ID != pr.Base.Repo.ID
	case e.Issue.PullRequest != nil:
		w.PullRequest = e.Issue.Number
	case e.WorkflowRun.HeadRepository.ID != 0:
		w.Fork = e.WorkflowRun.HeadRepository != e.Repository
	}
}

func isSSH(repository string) bool {
	return strings.HasPrefix(repository, "ssh://") || !strings.Contains(repository, "://") && strings.Contains(repository, "@")
}

func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
