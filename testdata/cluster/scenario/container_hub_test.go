//go:build cluster

package scenario

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// A hub is what a workflow takes for GitHub: the API of one repository, and
// the Git server of the infra repository, acme/infra.
type hub struct {
	*githubtest.Server
	url   string
	stuck atomic.Bool // Git requests get no answer
}

// appID is the id of the GitHub App that is installed on acme/infra.
const appID = "1"

// hubOf is a GitHub with the site's infra repository, which everybody may
// read. Its token is the Git server's, as a workflow in acme/infra has one for
// both. The tokens of the GitHub App are the same.
func hubOf(s *site, repository string) *hub {
	s.Helper()
	app := &githubtest.App{ID: appID, Repository: "acme/infra", Life: time.Hour, Token: func() string { return gitPassword }}
	h := &hub{Server: &githubtest.Server{Repository: repository, Token: gitPassword, Login: "github-actions[bot]", App: app}}
	git, err := url.Parse(world.GitURL())
	s.must(err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(git)
		r.Out.URL.Path = strings.Replace(r.In.URL.Path, "/acme/infra.git/", "/"+filepath.Base(s.Dir)+"/", 1)
		if reads(r.In) && r.In.Header.Get("Authorization") == "" {
			r.Out.SetBasicAuth("anybody", gitPassword)
		}
	}}
	mux := http.NewServeMux()
	mux.Handle("/api/v3/", http.StripPrefix("/api/v3", h.Server))
	mux.Handle("/api/graphql", http.StripPrefix("/api", h.Server))
	mux.HandleFunc("/acme/infra.git/", func(w http.ResponseWriter, r *http.Request) {
		if h.stuck.Load() {
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	})
	server := httptest.NewServer(mux)
	s.Cleanup(func() { // what Argo CD has open must not hold up the end
		server.CloseClientConnections()
		server.Close()
	})
	h.url = server.URL
	return h
}

// reads tells whether a request of Git's reads a repository.
func reads(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/git-upload-pack") || r.URL.Query().Get("service") == "git-upload-pack"
}

// comment is what the only comment on a pull request says.
func (h *hub) comment(s *site, pull int) string {
	s.Helper()
	comments := h.Comments(pull)
	if len(comments) != 1 || comments[0].Deleted {
		s.Fatalf("pull request %d has the comments %+v, want one", pull, comments)
	}
	return comments[0].Body()
}

// checkout is a folder with a commit of the service's own repository.
func (s *site) checkout() (folder, commit string) {
	s.Helper()
	folder = s.TempDir()
	s.must(os.WriteFile(filepath.Join(folder, "main.go"), []byte("package main\n"), 0o644))
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "."},
		{"-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "--quiet", "--message=Start"},
	} {
		_, err := gittest.Git(folder, nil, args...)
		s.must(err)
	}
	commit, err := gittest.Git(folder, nil, "rev-parse", "HEAD")
	s.must(err)
	return folder, commit
}
