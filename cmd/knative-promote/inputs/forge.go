package inputs

import (
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/gitops/repourl"
)

// checkStatuses wants a forge that has the statuses, and a token for it.
func (s *Settings) checkStatuses(given origins, w console.Workflow) string {
	name, source := "statuses", given.source("statuses")
	if len(s.Promote.Checks) > 0 {
		name, source = "checks", given.source("checks")
	}
	if !s.WantsStatuses() || s.Remote.URL == "" {
		return ""
	}
	switch {
	case repourl.Read(s.Remote.URL).Host != repourl.Read(w.ServerURL).Host:
		return fmt.Sprintf("%s (%s): the statuses of %s are not on the forge of the workflow, %s; expected a repository there, or remove it", name, source, repourl.Shown(s.Remote.URL), w.ServerURL)
	case given.source("token") == "" && given.source("app-id") == "":
		return fmt.Sprintf("%s (%s): no token reaches the statuses of %s; set token, or app-id and app-private-key", name, source, repourl.Shown(s.Remote.URL))
	case InClear(w.APIURL):
		return fmt.Sprintf("%s (%s): a token must not travel without TLS, and GITHUB_API_URL is %q; expected an https URL there", name, source, w.APIURL)
	}
	return ""
}
