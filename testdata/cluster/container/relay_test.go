package container

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// Podman is asked to wait for a container's end only when it has ended.
func TestRelayWaits(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "relay") // paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	listener, err := net.Listen("unix", filepath.Join(folder, "podman.sock"))
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	podman := http.NewServeMux()
	podman.HandleFunc("GET /v1/containers/a/json", func(w http.ResponseWriter, r *http.Request) {
		looked++
		fmt.Fprintf(w, `{"State": {"Running": %t}}`, looked < 3)
	})
	podman.HandleFunc("POST /v1/containers/a/wait", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s after %d", r.FormValue("condition"), looked)
	})
	go http.Serve(listener, podman)

	for path, want := range map[string]string{
		"/v1/containers/a/wait?condition=not-running": "not-running after 3",
		"/v1/containers/b/wait":                       "404 page not found\n",
	} {
		answer := httptest.NewRecorder()
		newRelay(listener.Addr().String()).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, nil))
		if got := answer.Body.String(); got != want {
			t.Errorf("%s answers %q, want %q", path, got, want)
		}
	}
}
