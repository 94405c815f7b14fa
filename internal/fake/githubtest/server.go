// Package githubtest is a small GitHub in memory: comments on pull requests,
// the pull requests of a commit, and who a token belongs to. Tests and the
// sandbox run against it.
package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Server is the API of one repository, an http.Handler. Set its fields before
// the first request; methods may be called at any time.
type Server struct {
	Repository string // owner/name
	Token      string // that requests must bear; empty: any
	Login      string // whose token it is; an app's ends in [bot]
	App        *App   // that has tokens made; nil: none
	Infra      Infra  // the infra repository, whose commits have statuses
	Approvals  []Approval

	// Fault may answer a request in the server's stead; it reports whether it did.
	Fault func(http.ResponseWriter, *http.Request) bool

	mu       sync.Mutex
	comments []*Comment
	pulls    []Pull
	requests []string
}

// Comment is one comment with everything that it ever said.
type Comment struct {
	ID      int64
	Pull    int
	Author  string
	Bodies  []string // the newest last
	Deleted bool
}

// Body is what the comment says now.
func (c Comment) Body() string { return c.Bodies[len(c.Bodies)-1] }

// Pull is one pull request.
type Pull struct {
	Number  int
	State   string // open or closed
	Head    string // commit at its tip
	Merge   string // commit that it was merged as; empty: it was not
	Commits []string
	Fork    bool // it comes from another repository
}

// AddPull adds a pull request.
func (s *Server) AddPull(pull Pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls = append(s.pulls, pull)
}

// AddComment adds a comment by anybody and returns its id.
func (s *Server) AddComment(pull int, author, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(pull, author, body).ID
}

func (s *Server) add(pull int, author, body string) *Comment {
	comment := &Comment{ID: int64(1000 + len(s.comments)), Pull: pull, Author: author, Bodies: []string{body}}
	s.comments = append(s.comments, comment)
	return comment
}

// Comments returns all comments of a pull request, the deleted ones too, the
// oldest first.
func (s *Server) Comments(pull int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Comment
	for _, comment := range s.comments {
		if comment.Pull == pull {
			found = append(found, *comment)
			found[len(found)-1].Bodies = slices.Clone(comment.Bodies)
		}
	}
	return found
}

// Requests returns the requests so far, each as "METHOD path".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	if s.Infra.has(r) {
		s.Infra.ServeHTTP(w, r)
		return
	}
	if s.Token != "" && !isApps(r) && r.Header.Get("Authorization") != "Bearer "+s.Token {
		Refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	s.routes().ServeHTTP(w, r)
}

// isApps reports whether a request is an App's, which bears no token.
func isApps(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/installation") || strings.HasPrefix(r.URL.Path, "/app/")
}

func (s *Server) routes() http.Handler {
	repository := "/repos/" + s.Repository
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", s.user)
	mux.HandleFunc("POST /graphql", s.viewer)
	mux.HandleFunc("GET "+repository+"/issues/{pull}/comments", s.list)
	mux.HandleFunc("POST "+repository+"/issues/{pull}/comments", s.create)
	mux.HandleFunc("PATCH "+repository+"/issues/comments/{id}", s.edit)
	mux.HandleFunc("DELETE "+repository+"/issues/comments/{id}", s.remove)
	mux.HandleFunc("GET "+repository+"/pulls/{pull}", s.pull)
	mux.HandleFunc("GET "+repository+"/commits/{commit}/pulls", s.pullsOf)
	mux.HandleFunc("GET "+repository, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"default_branch": "main"})
	})
	mux.HandleFunc("GET "+repository+"/compare/{range}", s.compare)
	mux.HandleFunc("GET "+repository+"/commits/{commit}/branches-where-head", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, []any{})
	})
	mux.HandleFunc("GET "+repository+"/actions/runs/{run}/approvals", s.approvals)
	if s.App != nil {
		s.App.routes(mux)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { Refuse(w, http.StatusNotFound, "Not Found") })
	return mux
}

// Refuse answers with an error in GitHub's form.
func Refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that is gone needs no answer
}
