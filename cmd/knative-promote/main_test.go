package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/cmd/internal/version"
	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/internal/fake/consoletest"
)

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--help"}, usageText()},
		{[]string{"-h"}, usageText()},
		{[]string{"promote", "--steps", "1", "--help"}, usageText()},
		{[]string{"--version"}, "knative-promote " + version.Of() + "\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), test.args, consoletest.Environment(), &stdout, &stderr)
		if code != 0 || stdout.String() != test.want || stderr.Len() > 0 {
			t.Errorf("%v: code %d, stdout %q, stderr %q", test.args, code, stdout.String(), stderr.String())
		}
	}
}

// TestBadInputOnActions looks at everything that a step shows and hands on
// when its inputs are wrong.
func TestBadInputOnActions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "output")
	var stdout bytes.Buffer
	code := run(t.Context(), nil, consoletest.Enough("INPUT_STEPS=1%", "INPUT_TOKEN=ghs a", "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+file), &stdout, io.Discard)
	if code != exit.Input {
		t.Errorf("code %d, want %d", code, exit.Input)
	}
	var shown []string
	for _, c := range consoletest.Commands(stdout.String()) {
		if c.Name != "add-mask" {
			shown = append(shown, c.Name+" "+c.Properties["title"]+": "+c.Data)
		}
	}
	want := []string{
		`error Bad input: token: the value (INPUT_TOKEN): expected one line without blanks; for example: ${{ steps.app.outputs.token }}`,
		`error Bad input: steps: "1%" (INPUT_STEPS): expected whole percentages from 0 to 100, but there is "1%"; for example: 10@5m,50@5m,100`,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := consoletest.Outputs(string(text))
	if err != nil || len(outputs) != len(outputTable()) || outputs[0] != (consoletest.Output{Name: "status", Value: "failed"}) {
		t.Errorf("outputs %v, error %v", outputs, err)
	}
}

// TestCancelledBeforehand cancels a run while it reads the pipeline file.
func TestCancelledBeforehand(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	git := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(git.Close)
	file := filepath.Join(t.TempDir(), "output")
	code := run(ctx, nil, consoletest.Enough("INPUT_REPOSITORY="+git.URL+"/acme/infra.git", "INPUT_PATH=", "INPUT_ENVIRONMENT=production", "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+file), io.Discard, io.Discard)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := consoletest.Outputs(string(text))
	if err != nil || code != exit.Cancelled || outputs[0] != (consoletest.Output{Name: "status", Value: "cancelled"}) {
		t.Errorf("code %d, outputs %v, error %v", code, outputs, err)
	}
}

func TestPanicIsOneLineWithoutSecrets(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	getenv := func(name string) string {
		if name == "GITHUB_REPOSITORY" {
			panic("no idea what argo-secret\nmeans")
		}
		return consoletest.Enough()(name)
	}
	code := run(t.Context(), nil, getenv, &stdout, &stderr)
	line := stderr.String()
	if code != exit.Internal || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "error: Internal error: please report this: no idea what *** means at ") {
		t.Errorf("code %d, stderr %q", code, line)
	}
	if place := regexp.MustCompile(`/main_test\.go:[0-9]+\n$`); !place.MatchString(line) {
		t.Errorf("%q does not say where it panicked", line)
	}
}
