package reporter

import (
	"errors"
	"strings"
	"testing"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/event"
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
  knative-promote rollback --service product-import --repository https://git.example.test/infra.git --path 'apps/it'\''s here' --application a --argocd-server argocd.example.test --to a-00001`
	candidate, restore := event.Step{Name: "candidate", Commit: "3f9c2d1e"}, event.Step{Name: "restore", Commit: "8a71e0c4"}
	cancelled := event.Result{Command: inputs.Promote, Status: event.Cancelled, RollbackTo: "a-00001", Steps: []event.Step{candidate}}
	if got := after(s, cancelled, nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	held := strings.Replace(want, "10@5m,100", "10@5m,100,100", 1)
	heldAsAsked := event.Result{Command: inputs.Promote, Status: event.Held, RollbackTo: "a-00001", Steps: cancelled.Steps}
	if got := after(s, heldAsAsked, nil); got != held {
		t.Errorf("held as asked got\n%s\nwant\n%s", got, held)
	}
	heldAsAsked.RollbackTo = ""
	if got, want := after(s, heldAsAsked, nil), strings.Split(held, "\nTo roll it back")[0]; got != want {
		t.Errorf("held on a first deployment got\n%s\nwant\n%s", got, want)
	}
	want, _, _ = strings.Cut(strings.Replace(want, "To continue", "To try it again", 1), "\nTo roll it back")
	for _, steps := range [][]event.Step{nil, {{Name: "candidate"}}, {candidate, restore}} {
		if cancelled.Steps = steps; after(s, cancelled, nil) != want {
			t.Errorf("after %v got\n%s\nwant\n%s", steps, after(s, cancelled, nil), want)
		}
	}
}

// TestNotRestored has what a person is told where a rollback failed: who is served by what,
// and the command that has just ended so only where it has a commit to wait for.
func TestNotRestored(t *testing.T) {
	t.Parallel()
	env := map[string]string{"INPUT_REPOSITORY": "acme/infra", "INPUT_PATH": "apps/web", "INPUT_APPLICATION": "a", "INPUT_ARGOCD-SERVER": "argocd.example.test", "INPUT_ARGOCD-TOKEN": "s3cret", "INPUT_TOKEN": "s3cret"}
	s, err := inputs.Read(inputs.Parse([]string{"rollback"}), func(name string) string { return env[name] }, console.Workflow{}, pipeline.File{})
	if err != nil {
		t.Fatal(err)
	}
	place := " --repository acme/infra --path apps/web --application a --argocd-server argocd.example.test"
	served := []servingv1.TrafficTarget{{RevisionName: "web-1", Percent: new(int64(90))}, {RevisionName: "web-2", Percent: new(int64(10)), Tag: "candidate"}}
	failed := &promote.RestoreError{Err: errors.New("no answer")}
	for name, test := range map[string]struct {
		result event.Result
		want   string
	}{
		"made by the command": {event.Result{Command: inputs.Rollback, Steps: []event.Step{{Name: "rollback", Commit: "3f9c2d1e8a71e0c4"}}, Served: served},
			"A person must look: the traffic may still go to the new revision. Users were served by 90 % web-1, 10 % web-2 (candidate) when that was last seen.\n" +
				"The commit 3f9c2d1e8a that rolls back is in the infra repository, and nobody has seen it live. To see what keeps it from that:\n  knative-promote check" + place + "\nTo wait for it again:\n  knative-promote rollback" + place},
		"of what is not Ready": {event.Result{Command: inputs.Rollback, Steps: []event.Step{{Name: "rollback", Commit: "3f9c2d1e8a71e0c4"}}, RollbackTo: "web-1"},
			"A person must look: the traffic may still go to the new revision.\n" +
				"The commit 3f9c2d1e8a that rolls back is in the infra repository, and the traffic does not go where it leads. To have Git give all of it to web-1, which serves most of the users:\n  knative-promote rollback" + place + " --to web-1"},
		"no pod starts": {event.Result{Command: inputs.Rollback, Steps: []event.Step{{Name: "rollback", Commit: "3f9c2d1e8a71e0c4"}}, WithoutPod: "web-2", RollbackTo: "web-1"},
			"A person must look: Git and Knative give all users to web-2, and no pod of it starts, for example because its image is in no registry any more.\n" +
				"To have Git give all of them to web-1, which was good before:\n  knative-promote rollback" + place + " --to web-1\nTo look once more whether a pod has started:\n  knative-promote rollback" + place},
		"no pod starts, and nothing was good before": {event.Result{Command: inputs.Promote, Steps: []event.Step{{Name: "restore", Commit: "3f9c2d1e8a71e0c4"}}, WithoutPod: "web-2"},
			"A person must look: Git and Knative give all users to web-2, and no pod of it starts, for example because its image is in no registry any more.\n" +
				"The record has no other version that was good before: bring the image back, or promote one that is good, with steps that end with 100."},
		"not made by the command": {event.Result{Command: inputs.Rollback},
			"A person must look: the traffic may still go to the new revision.\nThe commit that rolls back could not be made, so nothing was changed. To see what keeps it:\n  knative-promote check" + place},
		"not made by a promotion": {event.Result{Command: inputs.Promote, Steps: []event.Step{{Name: "10 %", Commit: "8a71e0c4"}}, RollbackTo: "web-1"},
			"A person must look: the traffic may still go to the new revision.\nTo roll it back:\n  knative-promote rollback" + place + " --to web-1"},
	} {
		if got := after(s, test.result, failed); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
	}
}
