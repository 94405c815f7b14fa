package main

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote"
)

func TestCommitURL(t *testing.T) {
	t.Parallel()
	for repository, want := range map[string]string{
		"https://github.com/acme/infra.git":      "https://github.com/acme/infra/commit/",
		"https://github.example.com/acme/infra/": "https://github.example.com/acme/infra/commit/",
		"git@github.com:acme/infra.git":          "https://github.com/acme/infra/commit/",
		"ssh://git@github.com/acme/infra.git":    "https://github.com/acme/infra/commit/",
		"http://127.0.0.1:8080/acme/infra.git":   "",
		"/srv/git/infra.git":                     "",
		"file:///srv/git/infra.git":              "",
	} {
		if got := commitURL(repository); got != want {
			t.Errorf("commitURL(%q) = %q, want %q", repository, got, want)
		}
	}
}

func TestCommandsToPaste(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"INPUT_SERVICE": "product-import", "INPUT_IMAGE": "ghcr.io/acme/a:v1\nghcr.io/acme/b:v2", "INPUT_REPOSITORY": "https://git.example.test/infra.git",
		"INPUT_PATH": "apps/it's here", "INPUT_TOKEN": "s3cret", "INPUT_APPLICATION": "a", "INPUT_ARGOCD-SERVER": "argocd.example.test",
		"INPUT_ARGOCD-TOKEN": "s3cret", "INPUT_STEPS": "10@5m,100",
	}
	s, err := readSettings(parseArguments(nil, new(settings).inputs()), func(name string) string { return env[name] }, workflow{})
	if err != nil {
		t.Fatal(err)
	}
	want := `To continue:
  knative-promote promote --service product-import --image "$INPUT_IMAGE" --repository https://git.example.test/infra.git --path 'apps/it'\''s here' --application a --argocd-server argocd.example.test --steps 10@5m,100
To take it back:
  knative-promote rollback --service product-import --repository https://git.example.test/infra.git --path 'apps/it'\''s here' --application a --argocd-server argocd.example.test`
	candidate, restore := promote.StepResult{Name: "candidate", Commit: "3f9c2d1e"}, promote.StepResult{Name: "restore", Commit: "8a71e0c4"}
	cancelled := promote.Result{Command: cmdPromote, Status: promote.Cancelled, Steps: []promote.StepResult{candidate}}
	if got := s.after(cancelled, nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want, _, _ = strings.Cut(strings.Replace(want, "To continue", "To try it again", 1), "\nTo take it back")
	for _, steps := range [][]promote.StepResult{nil, {{Name: "candidate"}}, {candidate, restore}} {
		if cancelled.Steps = steps; s.after(cancelled, nil) != want {
			t.Errorf("after %v got\n%s\nwant\n%s", steps, s.after(cancelled, nil), want)
		}
	}
}
