// Package gittest serves bare repositories over Git's smart HTTP protocol
// with the installed git, on loopback. Tests and the sandbox use it as the
// infra repository's host.
package gittest

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Server serves every bare repository below Root. It is an http.Handler; the
// zero value of all fields but Root is an open server.
type Server struct {
	// Root is the folder that holds the bare repositories.
	Root string
	// Token, when not empty, is the password that every request must carry
	// by HTTP basic authentication; the user name does not matter.
	Token string
	// Around, when not nil, wraps what answers the requests, so that a test can
	// fail, delay, count or cut single ones.
	Around func(http.Handler) http.Handler

	backend sync.Once
	path    string
	err     error
}

// Serve listens on a free port of the loopback interface and answers requests
// until stop is called. A repository NAME has the address url + "/" + NAME.
func (s *Server) Serve() (url string, stop func(), err error) {
	if _, err := s.program(); err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening for git clients: %w", err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Its error only says that stop has closed the server.
		_ = server.Serve(listener)
	}()
	stop = func() {
		_ = server.Close()
		<-done
	}
	return "http://" + listener.Addr().String(), stop, nil
}

// ServeHTTP answers one request of a git client.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var handler http.Handler = http.HandlerFunc(s.serve)
	if s.Around != nil {
		handler = s.Around(handler)
	}
	handler.ServeHTTP(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "invalid username or token", http.StatusUnauthorized)
		return
	}
	path, err := s.program()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	root, err := filepath.Abs(s.Root)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	(&cgi.Handler{
		Path: path,
		Dir:  root,
		Env: append(environment(),
			"GIT_PROJECT_ROOT="+root,
			"GIT_HTTP_EXPORT_ALL=1",
			// git http-backend accepts pushes from named users only.
			"REMOTE_USER=gittest",
		),
		Stderr: io.Discard,
		// Clients may stop reading.
		Logger: log.New(io.Discard, "", 0),
	}).ServeHTTP(w, r)
}

func (s *Server) allowed(r *http.Request) bool {
	if s.Token == "" {
		return true
	}
	_, password, _ := r.BasicAuth()
	return subtle.ConstantTimeCompare([]byte(password), []byte(s.Token)) == 1
}

// program finds git's CGI program once; it is not in PATH.
func (s *Server) program() (string, error) {
	s.backend.Do(func() {
		out, err := exec.Command("git", "--exec-path").Output()
		if err != nil {
			s.err = fmt.Errorf("looking for git's programs: %w: install git", err)
			return
		}
		s.path = filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
		if _, err := os.Stat(s.path); err != nil {
			s.err = fmt.Errorf("looking for git's HTTP server: %w: install git with its http-backend", err)
		}
	})
	return s.path, s.err
}

// environment keeps the configuration of the machine out of the repositories.
func environment() []string {
	return []string{
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
	}
}
