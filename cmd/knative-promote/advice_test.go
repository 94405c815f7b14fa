package main

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/pipeline"
)

func TestCommandsToPaste(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"INPUT_SERVICE": "product-import", "INPUT_IMAGE": "ghcr.io/acme/a:v1\nghcr.io/acme/b:v2", "INPUT_REPOSITORY": "https://git.example.test/infra.git",
		"INPUT_PATH": "apps/it's here", "INPUT_TOKEN": "s3cret", "INPUT_APPLICATION": "a", "INPUT_ARGOCD-SERVER": "argocd.example.test",
		"INPUT_ARGOCD-TOKEN": "s3cret", "INPUT_STEPS": "10@5m,100",
	}
	s, err := inputs.Read(inputs.Parse(nil), func(name string) string { return env[name] }, console.Workflow{}, pipeline.File{})
	if err != nil {
		t.Fatal(err)
	}
	want := `To continue:
  knative-promote promote --service product-import --image "$INPUT_IMAGE" --repository https://git.example.test/infra.git --path 'apps/it'\''s here' --application a --argocd-server argocd.example.test --steps 10@5m,100
To roll it back:
  knative-promote rollback --service product-import --repository https://git.example.test/infra.git --path 'apps/it'\''s here' --application a --argocd-server argocd.example.test`
	candidate, restore := promote.StepResult{Name: "candidate", Commit: "3f9c2d1e"}, promote.StepResult{Name: "restore", Commit: "8a71e0c4"}
	cancelled := promote.Result{Command: inputs.Promote, Status: promote.Cancelled, Steps: []promote.StepResult{candidate}}
	if got := after(s, cancelled, nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want, _, _ = strings.Cut(strings.Replace(want, "To continue", "To try it again", 1), "\nTo roll it back")
	for _, steps := range [][]promote.StepResult{nil, {{Name: "candidate"}}, {candidate, restore}} {
		if cancelled.Steps = steps; after(s, cancelled, nil) != want {
			t.Errorf("after %v got\n%s\nwant\n%s", steps, after(s, cancelled, nil), want)
		}
	}
}
