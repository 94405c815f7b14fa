package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// Deployment is one that was made, with all that was said of it.
type Deployment struct {
	ID          int64           `json:"id"`
	Ref         string          `json:"ref"`
	Environment string          `json:"environment"`
	Description string          `json:"description"`
	Payload     json.RawMessage `json:"payload"`

	Statuses []DeploymentStatus `json:"-"` // the newest last
	Merged   bool               `json:"-"` // the default branch was merged into Ref
}

// DeploymentStatus is one status of a deployment.
type DeploymentStatus struct {
	State          string `json:"state"`
	Description    string `json:"description"`
	EnvironmentURL string `json:"environment_url"`
	LogURL         string `json:"log_url"`
}

// deploymentStates are those that GitHub takes.
var deploymentStates = []string{"error", "failure", "inactive", "in_progress", "queued", "pending", "success"}

// Deployments are all that were made, the oldest first.
func (i *Infra) Deployments() []Deployment {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []Deployment
	for _, d := range i.deployments {
		copied := *d
		copied.Statuses = slices.Clone(d.Statuses)
		all = append(all, copied)
	}
	return all
}

// listDeployments gives those of an environment, the newest first.
func (i *Infra) listDeployments(w http.ResponseWriter, r *http.Request) {
	shown := []Deployment{}
	for _, d := range slices.Backward(i.Deployments()) {
		if d.Environment == r.URL.Query().Get("environment") {
			shown = append(shown, d)
		}
	}
	answer(w, http.StatusOK, shown[:min(len(shown), number(r, "per_page", 30))])
}

// deploy merges the default branch into the ref and wants every status, unless
// it is told not to, as GitHub does.
func (i *Infra) deploy(w http.ResponseWriter, r *http.Request) {
	asked := struct {
		Deployment
		AutoMerge        bool      `json:"auto_merge"`
		RequiredContexts *[]string `json:"required_contexts"`
	}{AutoMerge: true}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Ref == "" || len(asked.Description) > 140 {
		Refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	if asked.RequiredContexts == nil || len(*asked.RequiredContexts) > 0 {
		Refuse(w, http.StatusConflict, "Conflict: Commit status checks failed for "+asked.Ref+".")
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	made := asked.Deployment
	made.ID, made.Merged = int64(500+len(i.deployments)), asked.AutoMerge
	i.deployments = append(i.deployments, &made)
	if made.Merged {
		answer(w, http.StatusAccepted, map[string]string{"message": "Auto-merged main into " + made.Ref + " on deployment."})
		return
	}
	answer(w, http.StatusCreated, made)
}

// deploymentStatuses gives those of a deployment, the newest first.
func (i *Infra) deploymentStatuses(w http.ResponseWriter, r *http.Request) {
	for _, d := range i.Deployments() {
		if strconv.FormatInt(d.ID, 10) == r.PathValue("id") {
			slices.Reverse(d.Statuses)
			answer(w, http.StatusOK, d.Statuses[:min(len(d.Statuses), number(r, "per_page", 30))])
			return
		}
	}
	Refuse(w, http.StatusNotFound, "Not Found")
}

func (i *Infra) setDeployment(w http.ResponseWriter, r *http.Request) {
	var s DeploymentStatus
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil || len(s.Description) > 140 || !slices.Contains(deploymentStates, s.State) {
		Refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	for _, d := range i.deployments {
		if d.ID == id {
			d.Statuses = append(d.Statuses, s)
			answer(w, http.StatusCreated, s)
			return
		}
	}
	Refuse(w, http.StatusNotFound, "Not Found")
}
