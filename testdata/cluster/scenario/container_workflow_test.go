//go:build cluster

package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/testdata/cluster/container"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// shippedSite is a site with what the example workflows name: an infra
// repository acme/infra on GitHub, where the service's repository is too, an
// overlay for staging beside production's, and an Application for each.
func shippedSite(t *testing.T, more ...func(*layout)) (*site, *hub) {
	t.Helper()
	return shippedSiteOf(t, "", more...)
}

// shippedSiteOf is one whose workflows are in a repository; empty: the service's.
func shippedSiteOf(t *testing.T, repository string, more ...func(*layout)) (*site, *hub) {
	t.Helper()
	s := prepare(t, func(l *layout) {
		l.App.SetName(l.Service + "-production")
		withStaging(l)
		for _, change := range more {
			change(l)
		}
	})
	h := hubOf(s, cmp.Or(repository, "acme/"+s.Service))
	s.URL = h.url + "/acme/infra.git"
	s.must(unstructured.SetNestedField(s.App.Object, s.URL, "spec", "source", "repoURL"))
	s.must(kube.Deploy(s.Context(), s.App))
	t.Cleanup(s.checkPromises)
	return s, h
}

// staging is the same site's other overlay, deployed.
func (s *site) staging() *site { return s.environment("staging") }

// environment is another overlay of the same site, deployed.
func (s *site) environment(name string) *site {
	s.Helper()
	other := *s
	other.Overlay, other.Namespace = "apps/"+s.Service+"/overlays/"+name, s.Namespace+"-"+name
	other.App = plane.Application(s.Service+"-"+name, s.URL, other.Overlay, other.Namespace)
	s.must(kube.Deploy(s.Context(), other.App))
	s.Cleanup(other.leave)
	return &other
}

// inside are the replacements that every workflow with Argo CD needs: the
// Service's name, and where Argo CD is.
func inside(s *site) []string {
	return []string{
		"product-import", s.Service,
		"argocd-server: argocd.example.com", "argocd-server: " + world.ArgoCDServer() + "\n          argocd-ca: ${{ vars.ARGOCD_CA }}",
	}
}

// promoted are the replacements of a workflow that promotes: the image, as the
// overlay names it, the steps, and where the Service is served.
func promoted(s *site, steps string) []string {
	return append(inside(s),
		"ghcr.io/acme/"+s.Service+"=", s.Image+"=",
		"10@5m,50@5m,100", steps,
		"probe: /healthz", "probe-connect: "+world.Ingress()+"\n          probe: /healthz",
	)
}

// outputsRead makes a later step of a workflow read all outputs of the action,
// however it ended, and write them to a file.
func outputsRead(text, file string) string {
	const uses = "- uses: acme/knative-promote@v1"
	return strings.Replace(text, uses, "- id: promote\n        uses: acme/knative-promote@v1", 1) + `
      - if: always()
        env:
          OUTPUTS: ${{ toJSON(steps.promote.outputs) }}
        run: printf '%s\n' "$OUTPUTS" >>` + file + "\n"
}

// readOutputs are the outputs that later steps read, one run after the other.
func readOutputs(s *site, file string) []map[string]string {
	s.Helper()
	log, err := os.Open(file)
	s.must(err)
	defer log.Close()
	var all []map[string]string
	for decoder := json.NewDecoder(log); decoder.More(); {
		var outputs map[string]string
		s.must(decoder.Decode(&outputs))
		all = append(all, outputs)
	}
	return all
}

// run runs a workflow on GitHub and checks what holds for all of them: the
// action prints no secret, but for the commands that make the runner hide it.
func (a *shipped) run(s *site, h *hub, w container.Workflow) container.Journal {
	s.Helper()
	ca, err := os.ReadFile(world.CA())
	s.must(err)
	w.Repository, w.Server, w.Token, w.Actions = h.Repository, h.url, gitPassword, a.actions()
	w.Secrets = map[string]string{"DEPLOY_APP_KEY": string(githubtest.AppPEM()), "ARGOCD_TOKEN": world.Tokens["ci"]}
	w.Variables = map[string]string{"DEPLOY_APP_CLIENT_ID": appID, "ARGOCD_CA": string(ca)}
	journal, err := a.engine.Run(s.Context(), w)
	s.must(err)
	s.Cleanup(func() {
		if s.Failed() {
			s.Logf("the workflow printed:\n%s", journal.Text())
		}
	})
	for _, secret := range []string{gitPassword, world.Tokens["ci"]} {
		if strings.Contains(journal.Of("acme/knative-promote").Text(), secret) {
			s.Errorf("the log shows a secret, %s", secret)
		}
	}
	return journal
}

// push is the event of a push of a commit to main.
func push(commit string) map[string]any {
	return map[string]any{"ref": "refs/heads/main", "after": commit, "deleted": false}
}

// deployOnPush: an image is built, and promoted to staging and then, in steps,
// to production, as the example workflow says.
func deployOnPush(t *testing.T, a *shipped) {
	s, h := shippedSite(t)
	staging := s.staging()
	folder, commit := s.checkout()
	h.AddPull(githubtest.Pull{Number: 41, State: "closed", Merge: commit})
	read := filepath.Join(t.TempDir(), "outputs")
	text := a.workflow(s, "deploy-on-push.yml", promoted(s, "10@1s,50@1s,100")...)
	journal := a.run(s, h, container.Workflow{
		Text: outputsRead(text, read), Event: "push", Payload: push(commit), Checkout: folder,
	})
	if want := []string{"build success", "promote success", "promote success"}; !slices.Equal(journal.Jobs(), want) {
		t.Fatalf("jobs ended %q, want %q", journal.Jobs(), want)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(commit)))
	staging.settled(digest)
	s.settled(digest)
	outputs := readOutputs(s, read)
	if len(outputs) != 2 {
		t.Fatalf("later steps read %d outputs, want those of staging and of production", len(outputs))
	}
	isTrue(staging, outputs[0], digest)
	isTrue(s, outputs[1], digest)
	for _, said := range []string{"warning", "error"} {
		if notes := journal.Annotations(said); len(notes) > 0 {
			t.Errorf("annotations: %q", notes)
		}
	}
	shown(s, journal, h)
}

// isTrue compares the outputs with the cluster and with Git.
func isTrue(s *site, outputs map[string]string, digest string) {
	s.Helper()
	live := s.live()
	image := "ghcr.io/acme/" + s.Service + "@sha256:" + digest
	traffic, err := json.Marshal(live.Spec.Traffic)
	s.must(err)
	for name, want := range map[string]string{
		"status": "promoted", "changed": "true", "revision": live.Spec.Template.Name, "url": live.Status.URL.String(),
		"image": image, "commit": s.git("log", "-1", "--invert-grep", "--grep=^Promotion-Passed: ", "--format=%H", "main", "--", s.Overlay),
		"traffic": string(traffic),
	} {
		if outputs[name] != want {
			s.Errorf("%s: output %s is %q, want %q", s.Overlay, name, outputs[name], want)
		}
	}
	if !json.Valid([]byte(outputs["report"])) || !strings.Contains(outputs["diff"], "image: "+image) {
		s.Errorf("outputs report and diff: %s\n%s", outputs["report"], outputs["diff"])
	}
}

// shown: the job summaries and the comment on the pull request show both
// promotions.
func shown(s *site, journal container.Journal, h *hub) {
	s.Helper()
	summaries := journal.Summaries()
	if len(summaries) != 2 || !strings.Contains(summaries[0], "staging") || !strings.Contains(summaries[1], "production") {
		s.Errorf("job summaries: %q, want one of staging and one of production", summaries)
	}
	for _, comment := range h.Comments(41) {
		if !strings.Contains(comment.Body(), h.url+"/"+h.Repository+"/actions/runs/1001") || len(comment.Bodies) < 2 {
			s.Errorf("a comment on the pull request, of %d versions:\n%s", len(comment.Bodies), comment.Body())
		}
	}
	if n := len(h.Comments(41)); n != 2 {
		s.Errorf("%d comments on the pull request, want one of each environment", n)
	}
}

// deployBroken: an image that does not start fails the job of its environment,
// and a step that always runs can tell why.
func deployBroken(t *testing.T, a *shipped) {
	s, h := shippedSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	folder, commit := s.checkout()
	read := filepath.Join(t.TempDir(), "outputs")
	text := a.workflow(s, "deploy-on-push.yml", append(promoted(s, "10,50,100"), "=${{ needs.build.outputs.image }}", "=*:v3.0.0-broken",
		"          - environment: staging\n            steps: \"100\"\n", "")...)
	journal := a.run(s, h, container.Workflow{
		Text: outputsRead(text, read), Event: "push", Payload: push(commit), Checkout: folder,
	})
	if want := []string{"build success", "promote failure"}; !slices.Equal(journal.Jobs(), want) {
		t.Fatalf("jobs ended %q, want %q", journal.Jobs(), want)
	}
	s.restored(good, "v2.0.0")
	if outputs := readOutputs(s, read); len(outputs) != 1 || outputs[0]["status"] != "rolled-back" {
		t.Errorf("a later step reads %v, want status rolled-back", outputs)
	}
	if notes := journal.Annotations("error"); len(notes) == 0 || !strings.HasPrefix(notes[0], "Gate failed, rolled back: ") {
		t.Errorf("annotations: %q", notes)
	}
	if !strings.Contains(journal.Text(), "exit with `FAILURE`: 8") {
		t.Error("the action did not end with 8")
	}
}

// rollbackDispatched: somebody starts the example workflow by hand.
func rollbackDispatched(t *testing.T, a *shipped) {
	s, h := shippedSite(t)
	s.promote("v2.0.0").exits(0)
	good := s.git("rev-parse", "main")
	s.promote("v3.0.0").exits(0)
	before := len(s.commits())
	folder, _ := s.checkout()
	read := filepath.Join(t.TempDir(), "outputs")
	text := outputsRead(a.workflow(s, "rollback.yml", inside(s)...), read)
	inputs := map[string]string{"environment": "production", "service": s.Service, "to": "", "reason": "wrong prices `since` $(14:10)"}
	journal := a.run(s, h, container.Workflow{
		Text: text, Event: "workflow_dispatch", Payload: map[string]any{"inputs": inputs}, Inputs: inputs, Checkout: folder,
	})
	if want := []string{"rollback success"}; !slices.Equal(journal.Jobs(), want) {
		t.Fatalf("jobs ended %q, want %q", journal.Jobs(), want)
	}
	s.settled("v2.0.0")
	if changed := s.git("diff", good, "main", "--", s.Overlay+"/kustomization.yaml"); changed != "" {
		t.Errorf("kustomization.yaml is not what it was:\n%s", changed)
	}
	if made := s.commits()[before:]; len(made) != 1 {
		t.Errorf("the rollback made the commits %q, want one", made)
	}
	message := s.log("-1", "--format=%B")
	for _, text := range []string{inputs["reason"], "octocat", h.url + "/" + h.Repository + "/actions/runs/1001"} {
		if !strings.Contains(message, text) {
			t.Errorf("the commit's message lacks %q:\n%s", text, message)
		}
	}
	if outputs := readOutputs(s, read); len(outputs) != 1 || outputs[0]["status"] != "rolled-back" || outputs[0]["image"] != s.Image+":v2.0.0" {
		t.Errorf("a later step reads %v", outputs)
	}
}
