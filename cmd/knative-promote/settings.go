package main

import (
	"path"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
)

// The commands.
const (
	cmdPromote  = "promote"
	cmdRollback = "rollback"
	cmdCheck    = "check"
	cmdDiff     = "diff"
	cmdHistory  = "history"
)

// The choices of format and fail-on.
const (
	formatText  = "text"
	formatJSON  = "json"
	formatSARIF = "sarif"

	failOnError   = "error"
	failOnWarning = "warning"
	failOnNever   = "never"
)

// checkSettings say how the command check reports.
type checkSettings struct {
	Format string
	Output string // file; empty: the log
	FailOn string
}

// appSettings are a GitHub App's; the zero value is none.
type appSettings struct {
	ID  string
	Key []byte
}

// settings is everything that a user can ask for: what the table of inputs
// binds to, completed with what the workflow run knows.
type settings struct {
	Command     string         // promote, rollback, check, diff or history
	Promote     promote.Config // what to do
	Remote      gitops.Remote  // the infra repository
	Author      gitops.Person  // of the commits
	Committer   gitops.Person  // of the commits
	Argo        argo.Config    // how to reach Argo CD
	App         appSettings    // the GitHub App whose tokens reach the infra repository
	GitHubToken string         // for the pull request comment; empty: no comment
	PullRequest int            // that shows the report; 0: none known
	Timeout     time.Duration  // of the whole run
	Check       checkSettings  // how the command check reports
	Checkout    bool           // the infra repository is the workflow's, checked out
	Unused      []string       // inputs that the workflow gives and the command does not use
	Wishes      []wish         // the inputs that somebody set, for the commands to paste
}

// complete fills what no input said from the workflow run and from other
// inputs.
func (s *settings) complete(w workflow) {
	if s.Remote.URL == "" && (s.diffsCheckout() || s.Command == cmdCheck) {
		s.Remote.URL, s.Checkout = w.Repository, true
	}
	s.Remote.URL = repositoryURL(s.Remote, w.ServerURL)
	s.Promote.Source = argo.Source{RepoURL: s.Remote.URL, Branch: s.Remote.Branch, Path: s.Promote.Overlay}
	if overlay := s.Promote.Overlay; s.Promote.Environment == "" && overlay != "" && overlay != "." {
		s.Promote.Environment = path.Base(s.Promote.Overlay)
	}
	if s.PullRequest == 0 {
		s.PullRequest = w.PullRequest
	}
	s.Committer = s.Author
	s.Promote.RunURL, s.Promote.RunAgain, s.Promote.Actor, s.Promote.SourceCommit = w.RunURL, w.RunAgain, w.Actor, w.Source()
	s.Argo.UserAgent = "knative-promote/" + versionOf()
}

// diffsCheckout says whether the run compares the overlays that a pull
// request touches instead of planning one promotion.
func (s *settings) diffsCheckout() bool {
	return s.Command == cmdDiff && len(s.Promote.Images) == 0
}

// pushes says whether the command may change the infra repository.
func (s *settings) pushes() bool { return s.Command == cmdPromote || s.Command == cmdRollback }

// secrets are the values that no output may show.
func (s *settings) secrets() []string {
	all := []string{s.Remote.Token, string(s.Remote.SSHKey), string(s.App.Key), s.Argo.Token, s.GitHubToken}
	return append(all, headerSecrets(s.Argo.Headers)...)
}
