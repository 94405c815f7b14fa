package inputs

import (
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote/gitea"
)

// checkForge wants a forge that has what a run reads and shows of the infra
// repository there, and a token for it.
func checkForge(s *Settings, given origins, w console.Workflow) string {
	name, what := onForge(s)
	source := given.source(name)
	if source == "" || s.Remote.URL == "" {
		return ""
	}
	switch {
	case repourl.Read(s.Remote.URL).Host != repourl.Read(w.ServerURL).Host:
		return fmt.Sprintf("%s (%s): the %s of %s are not on the forge of the workflow, %s; expected a repository there, or remove it", name, source, what, repourl.Shown(s.Remote.URL), w.ServerURL)
	case s.Deployments && gitea.Is(w.APIURL):
		return fmt.Sprintf("deployments (%s): %s speaks the API of Gitea and Forgejo, which have no deployments; remove it, and set statuses to show how far a promotion is", given.source("deployments"), w.ServerURL)
	case given.source("token") == "" && given.source("app-id") == "":
		return fmt.Sprintf("%s (%s): no token reaches the %s of %s; set token, or app-id and app-private-key", name, source, what, repourl.Shown(s.Remote.URL))
	case InClear(w.APIURL):
		return fmt.Sprintf("%s (%s): a token must not travel without TLS, and GITHUB_API_URL is %q; expected an https URL there", name, source, w.APIURL)
	}
	return ""
}

// onForge is the input that wants something of the infra repository's forge, and
// what; empty: none does.
func onForge(s *Settings) (name, what string) {
	switch {
	case s.Reviewed():
		return "mode", "pull requests"
	case s.Commit == CommitAPI:
		return "commit", "commits"
	case len(s.Promote.Checks) > 0:
		return "checks", "statuses"
	case s.Statuses:
		return "statuses", "statuses"
	case s.Deployments:
		return "deployments", "deployments"
	}
	return "", ""
}

// checkCommit keeps what git says of a commit from being given to a forge that
// says it itself, and api from a forge that has none.
func checkCommit(s *Settings, given origins, w console.Workflow) string {
	if s.Commit != CommitAPI {
		return ""
	}
	for _, name := range []string{"signing-key", "author-name", "author-email"} {
		if source := given.source(name); source != "" {
			return fmt.Sprintf("%s (%s): commit is api, so GitHub says who made the commits and signs them; remove it, or set commit to git", name, source)
		}
	}
	if gitea.Is(w.APIURL) {
		return fmt.Sprintf("commit (%s): the forge of the workflow, %s, is Gitea or Forgejo, which make no signed commits by an API; expected git, and signing-key", given.source("commit"), w.ServerURL)
	}
	return ""
}

// AsksForge says whether the forge of the workflow has the infra repository, and
// a token for it is at hand.
func (s *Settings) AsksForge(w console.Workflow) bool {
	here := w.ServerURL != "" && repourl.Read(s.Remote.URL).Host == repourl.Read(w.ServerURL).Host
	return here && (s.Remote.Token != "" || s.App.ID != "") && !InClear(w.APIURL)
}

// checkMerge keeps what is about pull requests from being given where there are
// none, and their time within the run's.
func checkMerge(s *Settings, given origins) string {
	for _, name := range []string{"merge", "merge-timeout"} {
		if given.source(name) != "" && !s.Reviewed() {
			return fmt.Sprintf("%s (%s): mode is push, so there are no pull requests; set mode to first-pull-request or pull-request, or remove it", name, given.source(name))
		}
	}
	return outlasts(s, given, "merge-timeout", s.Promote.MergeTimeout)
}
