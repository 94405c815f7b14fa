package kustomize

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// TestWorkerIsAlone has kustomize itself get what is refused before it gets there: it finds no git, and no server.
func TestWorkerIsAlone(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n: > "+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for resource, want := range map[string]string{
		"git::https://127.0.0.1:1/a.git": `exec: "git": executable file not found in $PATH`,
		server.URL + "/a.yaml":           "nothing is fetched from 127.0.0.1:",
	} {
		o := overlay{asked: newQuestioned(fstest.MapFS{"kustomization.yaml": {Data: []byte("resources: ['" + resource + "']\n")}})}
		if _, err := o.ask(t.Context(), "."); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", resource, err, want)
		}
	}
	if _, err := os.Stat(ran); err == nil || asked > 0 {
		t.Errorf("git ran: %v; the server was asked %d times", err == nil, asked)
	}
}
