package githubtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// Infra is a repository whose commits have statuses, are deployed and come by
// pull requests.
type Infra struct {
	Repository string              // owner/name; empty: there is none
	Token      string              // that requests must bear
	Folder     string              // of the bare Git repository, where there are pull requests
	Merging    func(commit string) // told of the commit that one is about to be merged as; nil: nobody is

	mu          sync.Mutex
	statuses    []CommitStatus
	deployments []*Deployment
	pulls       []*InfraPull
	review      Review
}

// CommitStatus is one that was set, with all that was said in its request.
type CommitStatus struct {
	Commit      string `json:"-"`
	Context     string `json:"context"`
	State       string `json:"state"`
	Description string `json:"description"`
	TargetURL   string `json:"target_url"`
}

// Statuses are all that were set, the oldest first.
func (i *Infra) Statuses() []CommitStatus {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]CommitStatus(nil), i.statuses...)
}

// Set sets a status.
func (i *Infra) Set(s CommitStatus) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.statuses = append(i.statuses, s)
}

func (i *Infra) has(r *http.Request) bool {
	asked := strings.HasPrefix(r.URL.Path, "/repos/"+i.Repository+"/") || r.URL.Path == "/graphql" && r.Header.Get("Authorization") == "Bearer "+i.Token
	return i.Repository != "" && asked && !isApps(r)
}

// ServeHTTP answers one request.
func (i *Infra) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+i.Token {
		Refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /repos/"+i.Repository+"/statuses/{commit}", i.set)
	mux.HandleFunc("GET /repos/"+i.Repository+"/commits/{commit}/status", i.combined)
	mux.HandleFunc("POST /graphql", i.graphQL)
	i.routesOfPulls(mux)
	mux.HandleFunc("GET /repos/"+i.Repository+"/deployments", i.listDeployments)
	mux.HandleFunc("POST /repos/"+i.Repository+"/deployments", i.deploy)
	mux.HandleFunc("GET /repos/"+i.Repository+"/deployments/{id}/statuses", i.deploymentStatuses)
	mux.HandleFunc("POST /repos/"+i.Repository+"/deployments/{id}/statuses", i.setDeployment)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { Refuse(w, http.StatusNotFound, "Not Found") })
	mux.ServeHTTP(w, r)
}

func (i *Infra) set(w http.ResponseWriter, r *http.Request) {
	s := CommitStatus{Commit: r.PathValue("commit")}
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil || len(s.Description) > 140 || s.Context == "" {
		Refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	i.Set(s)
	answer(w, http.StatusCreated, s)
}

// combined gives of each name the newest one.
func (i *Infra) combined(w http.ResponseWriter, r *http.Request) {
	newest := map[string]CommitStatus{}
	for _, s := range i.Statuses() {
		if s.Commit == r.PathValue("commit") {
			newest[s.Context] = s
		}
	}
	shown := []CommitStatus{}
	for _, s := range newest {
		shown = append(shown, s)
	}
	answer(w, http.StatusOK, map[string]any{"statuses": shown})
}
