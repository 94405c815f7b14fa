package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxBody is the longest comment that GitHub takes, in characters.
const maxBody = 65536

// user refuses apps, as GitHub does.
func (s *Server) user(w http.ResponseWriter, _ *http.Request) {
	if strings.HasSuffix(s.Login, "[bot]") {
		Refuse(w, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	answer(w, http.StatusOK, map[string]any{"login": s.Login, "type": "User"})
}

func (s *Server) viewer(w http.ResponseWriter, r *http.Request) {
	var query struct {
		Query string `json:"query"`
	}
	if err := json.NewDecoder(r.Body).Decode(&query); err != nil || query.Query != "query { viewer { login } }" {
		Refuse(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	answer(w, http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": s.Login}}})
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	pull, _ := strconv.Atoi(r.PathValue("pull"))
	page, size := number(r, "page", 1), min(number(r, "per_page", 30), 100)
	shown := []any{}
	kept := slices.DeleteFunc(s.Comments(pull), func(c Comment) bool { return c.Deleted })
	first, last := min((page-1)*size, len(kept)), min(page*size, len(kept))
	for _, comment := range kept[first:last] {
		shown = append(shown, comment.view())
	}
	if last < len(kept) {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?per_page=%d&page=%d>; rel="next"`, r.Host, r.URL.Path, size, page+1))
	}
	answer(w, http.StatusOK, shown)
}

func number(r *http.Request, name string, fallback int) int {
	if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil && n > 0 {
		return n
	}
	return fallback
}

func (c Comment) view() any {
	kind := "User"
	if strings.HasSuffix(c.Author, "[bot]") {
		kind = "Bot"
	}
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.ID) * time.Second)
	return map[string]any{
		"id": c.ID, "body": c.Body(), "created_at": created,
		"user": map[string]any{"login": c.Author, "type": kind},
	}
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	body, ok := bodyOf(w, r)
	if !ok {
		return
	}
	pull, _ := strconv.Atoi(r.PathValue("pull"))
	s.mu.Lock()
	defer s.mu.Unlock()
	answer(w, http.StatusCreated, s.add(pull, s.Login, body).view())
}

func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	body, ok := bodyOf(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if comment := s.find(w, r); comment != nil {
		comment.Bodies = append(comment.Bodies, body)
		answer(w, http.StatusOK, comment.view())
	}
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if comment := s.find(w, r); comment != nil {
		comment.Deleted = true
		w.WriteHeader(http.StatusNoContent)
	}
}

// find returns the comment that a path names, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request) *Comment {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	for _, comment := range s.comments {
		if comment.ID == id && !comment.Deleted {
			return comment
		}
	}
	Refuse(w, http.StatusNotFound, "Not Found")
	return nil
}

func bodyOf(w http.ResponseWriter, r *http.Request) (string, bool) {
	var comment struct {
		Body string `json:"body"`
	}
	if err := json.NewDecoder(r.Body).Decode(&comment); err != nil || comment.Body == "" {
		Refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return "", false
	}
	if utf8.RuneCountInString(comment.Body) > maxBody {
		Refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf("Body is too long (maximum is %d characters)", maxBody))
		return "", false
	}
	return comment.Body, true
}

func (s *Server) pull(w http.ResponseWriter, r *http.Request) {
	wanted, _ := strconv.Atoi(r.PathValue("pull"))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pull := range s.pulls {
		if pull.Number == wanted {
			answer(w, http.StatusOK, s.show(pull))
			return
		}
	}
	Refuse(w, http.StatusNotFound, "Not Found")
}

func (s *Server) pullsOf(w http.ResponseWriter, r *http.Request) {
	commit := r.PathValue("commit")
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := []any{}
	for _, pull := range s.pulls {
		if commit == pull.Head || commit == pull.Merge || slices.Contains(pull.Commits, commit) {
			shown = append(shown, s.show(pull))
		}
	}
	if len(shown) == 0 {
		Refuse(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+commit)
		return
	}
	answer(w, http.StatusOK, shown)
}

func (s *Server) show(pull Pull) any {
	own := map[string]any{"id": 1, "full_name": s.Repository}
	head := own
	if pull.Fork {
		head = map[string]any{"id": 2, "full_name": "mallory/fork"}
	}
	view := map[string]any{
		"number": pull.Number, "state": pull.State,
		"head": map[string]any{"sha": pull.Head, "repo": head},
		"base": map[string]any{"repo": own},
	}
	if pull.Merge != "" {
		view["merged"] = true
		view["merge_commit_sha"] = pull.Merge
		view["merged_at"] = "2026-01-01T00:00:00Z"
	}
	return view
}

// compare says of a commit whether the default branch has it: those that pull requests were merged as.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := "diverged"
	if slices.ContainsFunc(s.pulls, func(pull Pull) bool { return pull.Merge != "" && r.PathValue("range") == "main..."+pull.Merge }) {
		status = "behind"
	}
	answer(w, http.StatusOK, map[string]any{"status": status})
}
