package inputs

import (
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
)

// checkPrepare wants an open pull request for the branch that Argo CD syncs, or a push.
func checkPrepare(s *Settings, w console.Workflow) string {
	switch {
	case s.Command != Prepare || w.Before != "":
		return ""
	case w.HeadRef == "":
		return fmt.Sprintf("command: %q: the event %q tells of no pull request's branch; expected a workflow on pull_request, or on push to list the candidates that it has brought", s.Command, w.EventName)
	case w.Closed:
		return fmt.Sprintf("command: %q: pull request %d is closed; expected a workflow on pull_request with the types opened, synchronize and reopened", s.Command, w.PullRequest)
	case w.BaseRef != s.Remote.Branch:
		return fmt.Sprintf("branch: %q: pull request %d is to be merged into %q; expected the branch that Argo CD syncs, or a workflow for pull requests to that alone", s.Remote.Branch, w.PullRequest, w.BaseRef)
	}
	return ""
}
