package inputs

import (
	"cmp"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/gitops/signing"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
)

// The choices of format and fail-on.
const (
	FormatText  = "text"
	FormatJSON  = "json"
	FormatSARIF = "sarif"

	FailOnError   = "error"
	FailOnWarning = "warning"
	FailOnNever   = "never"
)

// The choices of commit.
const (
	CommitGit = "git"
	CommitAPI = "api"
)

// CheckSettings say how the command check reports.
type CheckSettings struct {
	Format string
	Output string // file; empty: the log
	FailOn string
}

// AppSettings are a GitHub App's; the zero value is none.
type AppSettings struct {
	ID  string
	Key []byte
}

// SigningSettings are the key that signs the commits; the zero value is none.
type SigningSettings struct {
	Key        string
	Passphrase string
	refused    error // why the key cannot sign
}

// Settings is everything that a user can ask for: what the table of inputs
// binds to, completed with what the workflow run knows.
type Settings struct {
	Command     Command
	Target      plan.Target       // the Service to promote, also the only one in Promote
	Promote     promote.Config    // what to do
	Remote      remote.Config     // the infra repository
	Author      gitops.Person     // of the commits
	Committer   gitops.Person     // of the commits
	Signing     SigningSettings   // of the commits
	Commit      string            // who makes the commits
	Argo        argo.Config       // how to reach Argo CD
	SourceArgos SourceArgos       // how to reach those of the environments that images come from
	App         AppSettings       // the GitHub App whose tokens reach the infra repository
	Prometheus  prometheus.Config // how to reach it; without an address there is none
	GitHubToken string            // for the pull request comment; empty: no comment
	Statuses    bool              // the infra repository's commits get statuses
	Deployments bool              // the infra repository gets deployments
	PullRequest int               // that shows the report; 0: none known
	Timeout     time.Duration     // of the whole run
	Manifests   string            // folder for the rendered manifests; empty: they are not written
	Check       CheckSettings     // how the command check reports
	AsItStands  bool              // no image is to be set, and somebody has said so
	Checkout    bool              // the infra repository is the workflow's, checked out
	Unused      []string          // inputs that the workflow gives and the command does not use
	Unasked     []string          // addresses that the pipeline file of a checkout says, and that are not believed
	Rules       pipeline.Rules    // what the pipeline file says of the target
	Several     []string          // environments that are promoted one after the other; none: only the target's
	Reached     bool              // nothing is wrong with what it takes to read the infra repository
	kept        []keptInput       // the inputs that somebody set, for the commands to paste
}

// complete fills what no input said from the workflow run and from other
// inputs.
func (s *Settings) complete(w console.Workflow) {
	if s.Remote.URL == "" && (s.DiffsCheckout() || s.Command == Prepare || s.Command == Check) {
		s.Remote.URL, s.Checkout = w.Repository, true
	}
	s.Remote.URL = repositoryURL(s.Remote, w.ServerURL)
	s.Target.Source = argo.Source{RepoURL: s.Remote.URL, Branch: s.Remote.Branch, Path: s.Target.Overlay}
	s.Target.Environment = cmp.Or(s.Target.Environment, s.Rules.Environment, plan.EnvironmentOf(s.Target.Overlay))
	if s.PullRequest == 0 {
		s.PullRequest = w.PullRequest
	}
	s.Committer = s.Author
	s.Promote.ByAPI, s.Promote.ForgeKey = s.Commit == CommitAPI, github.KeyOf(w.ServerURL)
	if s.Signing.Key != "" {
		s.Promote.Signer, s.Signing.refused = signing.Parse(s.Signing.Key, s.Signing.Passphrase, time.Now())
	}
	s.Promote.Gates.Analysis.Prometheus, s.Promote.Gates.Analysis.Connect = s.Prometheus.Address, s.Promote.Gates.Route.Connect
	if s.Command == Diff {
		s.Promote.DryRun, s.Promote.Preflight = true, promote.PreflightPlan
	}
	s.Promote.Guards.Keys = FileKeys()
	s.Promote.Targets = []plan.Target{s.Target}
	s.Promote.RunURL, s.Promote.RunAgain, s.Promote.Actor = w.RunURL, w.RunAgain, w.Actor
	s.Promote.Code = record.Code{Commit: w.Code(), At: w.Committed}
}

// Reviewed says whether commits come by pull requests.
func (s *Settings) Reviewed() bool {
	return s.Promote.Mode == review.First || s.Promote.Mode == review.Every
}

// DiffsCheckout says whether the run compares the overlays that a pull
// request touches instead of planning one promotion.
func (s *Settings) DiffsCheckout() bool {
	return s.Command == Diff && len(s.Promote.Images) == 0 && len(s.Promote.From) == 0 && !s.AsItStands
}
