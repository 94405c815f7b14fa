package main

import "net/http"

// forgeRuns are the promotions that ask the forge of the infra repository, by what
// of it the trouble is with: their further arguments.
var forgeRuns = map[string][]string{
	"statuses":    {"--statuses"},
	"deployments": {"--deployments"},
	"commits":     {"--commit", "api"},
	"pulls":       {"--mode", "pull-request", "--merge-timeout", "20s"},
}

// shows tells whether nothing depends on what the trouble is with.
func shows(host string) bool { return host == "github" || host == "statuses" || host == "deployments" }

// befalls tells whether the trouble is with a request to a host. Requests for the
// infra repository bear its token.
func (x *trouble) befalls(host string, r *http.Request) bool {
	if forgeRuns[x.host] != nil {
		return host == "github" && r.Header.Get("Authorization") == "Bearer "+gitToken
	}
	return host == x.host
}
