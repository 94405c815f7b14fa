//go:build cluster

package scenario

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/testdata/cluster/container"
)

// begin starts a promotion of the site in the image, as the runner does;
// pairs are inputs.
func (a *shipped) begin(s *site, pairs ...string) *container.Step {
	s.Helper()
	ca, err := os.ReadFile(world.CA())
	s.must(err)
	variables := map[string]string{
		"INPUT_SERVICE": s.Service, "INPUT_REPOSITORY": s.URL, "INPUT_PATH": s.Overlay, "INPUT_TOKEN": gitPassword,
		"INPUT_APPLICATION": s.App.GetName(), "INPUT_ARGOCD-SERVER": world.ArgoCDServer(), "INPUT_ARGOCD-CA": string(ca),
		"INPUT_ARGOCD-TOKEN": world.Tokens["ci"], "INPUT_IMAGE": s.Image + ":v2.0.0", "INPUT_PROBE": "/healthz",
		"INPUT_PROBE-CONNECT": world.Ingress(),
		// What is not set has its default, or is empty.
		"INPUT_COMMAND": "promote", "INPUT_BRANCH": "main", "INPUT_ENVIRONMENT": "", "INPUT_GITHUB-TOKEN": "",
	}
	for i := 0; i < len(pairs); i += 2 {
		variables["INPUT_"+strings.ToUpper(pairs[i])] = pairs[i+1]
	}
	step, err := a.engine.Begin(a.image, push(s.Seed), variables)
	s.must(err)
	s.Cleanup(func() {
		if s.Failed() {
			s.Logf("the step printed:\n%s", step.Log())
		}
	})
	return step
}

// stepLeavesNothing: a promotion writes nothing but outputs and summary, and
// takes no file away from the runner's user.
func stepLeavesNothing(t *testing.T, a *shipped) {
	s := newSite(t)
	step := a.begin(s, "steps", "50,100")
	if code := step.Wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	s.settled("v2.0.0")
	outputs, err := step.Outputs()
	s.must(err)
	if outputs["status"] != "promoted" || outputs["revision"] != s.live().Spec.Template.Name {
		t.Errorf("outputs: %v", outputs)
	}
	if summary, err := step.Summary(); err != nil || !strings.Contains(summary, s.Service) {
		t.Errorf("summary: %q, %v", summary, err)
	}
	all, foreign, err := step.Left()
	s.must(err)
	want := []string{
		"file_commands", "file_commands/set_output_1", "file_commands/step_summary_1", "home", "workflow", "workflow/event.json", "workspace",
	}
	if diff := cmp.Diff(want, all); diff != "" || len(foreign) > 0 {
		t.Errorf("files after the step (-want +got):\n%s\nof these belong to another user: %q", diff, foreign)
	}
}

// cancelHolds: the runner's signals end a promotion with the traffic as it is.
func cancelHolds(t *testing.T, a *shipped) {
	s := newSite(t)
	step := a.begin(s, "steps", "50@20m,100")
	s.eventually("the step bakes at 50 %", func() bool { return strings.Contains(step.Log(), "baking 50 %") })
	at := s.git("rev-parse", "main")
	s.cancelled(step, 11)
	if now := s.git("rev-parse", "main"); now != at {
		t.Errorf("the cancel made the commits %q", s.commits())
	}
	if hits := s.hits(s.host(), 200); hits["v1.0.0"] < 60 || hits["v2.0.0"] < 60 {
		t.Errorf("200 requests were answered by %v, want half by each", hits)
	}
}

// cancelRollsBack: with on-cancel rollback, one commit rolls all back.
func cancelRollsBack(t *testing.T, a *shipped) {
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	step := a.begin(s, "image", s.Image+":v3.0.0", "steps", "50@20m,100", "on-cancel", "rollback")
	s.eventually("the step bakes at 50 %", func() bool { return strings.Contains(step.Log(), "baking 50 %") })
	before := len(s.commits())
	s.cancelled(step, 11)
	if made := s.commits()[before:]; len(made) != 1 {
		t.Errorf("the cancel made the commits %q, want one", made)
	}
	s.eventually("the Service is ready", func() bool {
		live := s.live()
		return live.IsReady() && live.Status.ObservedGeneration == live.Generation && s.hits(s.host(), 20)["v2.0.0"] == 20
	})
	s.restored(good, "v2.0.0")
}

// cancelRollsBackInVain: also where the Git server gives no answer to the last
// commit, the step ends in time, and says that nothing was rolled back.
func cancelRollsBackInVain(t *testing.T, a *shipped) {
	s, h := shippedSite(t)
	step := a.begin(s, "steps", "50@20m,100", "on-cancel", "rollback")
	s.eventually("the step bakes at 50 %", func() bool { return strings.Contains(step.Log(), "baking 50 %") })
	at := s.git("rev-parse", "main")
	h.stuck.Store(true)
	s.cancelled(step, 10)
	if now := s.git("rev-parse", "main"); now != at {
		t.Errorf("the cancel made the commits %q", s.commits())
	}
}

// cancelled cancels a step as the runner does. It must end with this exit code.
func (s *site) cancelled(step *container.Step, exit int) {
	s.Helper()
	took, err := step.Cancel()
	s.must(err)
	if code := step.Wait(); code != exit {
		s.Errorf("exit code %d, want %d", code, exit)
	}
	outputs, err := step.Outputs()
	s.must(err)
	if outputs["status"] != "cancelled" {
		s.Errorf("outputs: %v", outputs)
	}
	s.Logf("the step ended %s after the cancel", took.Round(time.Millisecond))
}
