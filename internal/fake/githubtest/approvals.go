package githubtest

import "net/http"

// An Approval is somebody's answer to a job that waits for its environment.
type Approval struct {
	User        string
	Environment string
	State       string // approved or rejected
}

// SetApprovals replaces them.
func (s *Server) SetApprovals(all ...Approval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Approvals = all
}

// approvals are those of every workflow run.
func (s *Server) approvals(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []any{}
	for _, a := range s.Approvals {
		all = append(all, map[string]any{
			"state": a.State, "comment": "", "user": map[string]any{"login": a.User},
			"environments": []any{map[string]any{"name": a.Environment}},
		})
	}
	answer(w, http.StatusOK, all)
}
