package inputs

import (
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
)

// checkFork keeps what a fork proposes from being promoted with the
// repository's secrets, as pull_request_target would.
func checkFork(s *Settings, w console.Workflow) string {
	switch {
	case !s.Command.Pushes():
		return ""
	case w.Unread != "":
		return fmt.Sprintf("command: %q: nobody knows whether the event is a fork's pull request: %s; expected the file that the Actions runner writes, and outside Actions neither GITHUB_EVENT_NAME nor GITHUB_EVENT_PATH", s.Command, w.Unread)
	case w.Unmerged != "":
		return s.NotMerged(w.Unmerged, w)
	}
	return ""
}

// NotMerged refuses to promote what nobody has merged.
func (s *Settings) NotMerged(what string, w console.Workflow) string {
	of := "the pipeline"
	if w.EventName != "" {
		of = "the event " + w.EventName
	}
	return fmt.Sprintf("command: %q: %s comes from %s that is not merged; expected diff, or a workflow that runs after the merge", s.Command, of, what)
}
