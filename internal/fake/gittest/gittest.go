// Package gittest serves bare repositories over Git's smart HTTP protocol
// with the installed git, on loopback. Tests and the sandbox use it as the
// infra repository's host.
package gittest

import (
	"bytes"
	"compress/gzip"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
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
}

// Serve listens on a free port of the loopback interface and answers requests
// until stop is called. A repository NAME has the address url + "/" + NAME.
func (s *Server) Serve() (url string, stop func(), err error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", nil, fmt.Errorf("looking for git: %w: install it", err)
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
	folder, name := path.Split(path.Clean("/" + r.URL.Path))
	service, advertised := name, name == "refs" && path.Base(folder) == "info"
	if advertised {
		folder, service = path.Dir(path.Clean(folder)), r.URL.Query().Get("service")
	}
	dir, found := s.repository(folder)
	if known := service == "git-upload-pack" || service == "git-receive-pack"; !found || !known || !advertised && r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	exchange(w, r, dir, strings.TrimPrefix(service, "git-"), advertised)
}

// repository is the folder of the bare repository with an address.
func (s *Server) repository(address string) (dir string, found bool) {
	dir = filepath.Join(s.Root, filepath.FromSlash(address))
	for _, name := range []string{dir, dir + ".git"} {
		if _, err := os.Stat(filepath.Join(name, "HEAD")); err == nil {
			return name, true
		}
	}
	return "", false
}

// exchange has git answer a request, as its own CGI program does
// (https://git-scm.com/docs/http-protocol). Clients may stop reading.
func exchange(w http.ResponseWriter, r *http.Request, dir, service string, advertised bool) {
	protocol := r.Header.Get("Git-Protocol")
	answer, option := "result", "--stateless-rpc"
	if advertised {
		answer, option = "advertisement", "--http-backend-info-refs"
	}
	body, err := unpacked(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-"+service+"-"+answer)
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	if advertised && !slices.Contains(strings.Split(protocol, ":"), "version=2") {
		line := "# service=git-" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(line)+4, line)
	}
	question := func() string { return "" }
	if advertised {
		question = func() string { return advertisement(dir, service, protocol) }
	} else if service == "upload-pack" {
		request, err := io.ReadAll(body)
		if err != nil {
			return // the client has gone
		}
		body, question = bytes.NewReader(request), func() string { return objects(dir, protocol, request) }
	}
	answered(w, question, func(out io.Writer) error {
		cmd := exec.Command("git", service, option, dir)
		cmd.Env = append(environment(), "PATH="+os.Getenv("PATH"), "GIT_PROTOCOL="+protocol, "GIT_COMMITTER_NAME=gittest", "GIT_COMMITTER_EMAIL=gittest@localhost")
		cmd.Stdin, cmd.Stdout = body, out
		return cmd.Run()
	})
}

// unpacked is the body of a request, which clients may compress.
func unpacked(r *http.Request) (io.Reader, error) {
	if !strings.HasSuffix(r.Header.Get("Content-Encoding"), "gzip") {
		return r.Body, nil
	}
	return gzip.NewReader(r.Body)
}

func (s *Server) allowed(r *http.Request) bool {
	if s.Token == "" {
		return true
	}
	_, password, _ := r.BasicAuth()
	return subtle.ConstantTimeCompare([]byte(password), []byte(s.Token)) == 1
}

// environment keeps the configuration of the machine out of the repositories.
func environment() []string {
	return []string{
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
	}
}
