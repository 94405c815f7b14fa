package container

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httputil"
	"path"
	"time"
)

// A relay is what act takes for Docker: podman, but for waiting until a
// container has ended. Podman before 4.6 looks for that a million times in a
// second, with a processor of its own
// (https://github.com/containers/podman/issues/18150). The relay looks ten
// times, and asks podman when it is so.
type relay struct {
	podman http.RoundTripper
	pass   http.Handler
}

func newRelay(socket string) *relay {
	podman := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	return &relay{podman, &httputil.ReverseProxy{
		Transport:     podman,
		FlushInterval: -1, // a container's output is a stream
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "podman" },
	}}
}

func (l *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if container, what := path.Split(r.URL.Path); what == "wait" && r.Method == http.MethodPost {
		for l.runs(r.Context(), container+"json") {
			time.Sleep(100 * time.Millisecond)
		}
	}
	l.pass.ServeHTTP(w, r)
}

// runs tells whether podman says of a container that it runs. What is wrong
// with the question, podman says when it is asked to wait.
func (l *relay) runs(ctx context.Context, path string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://podman"+path, nil)
	if err != nil {
		return false
	}
	answer, err := l.podman.RoundTrip(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var container struct{ State struct{ Running bool } }
	return json.NewDecoder(answer.Body).Decode(&container) == nil && container.State.Running
}
