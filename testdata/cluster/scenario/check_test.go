//go:build cluster

package scenario

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
)

// A trouble is a setup that a rule of `check` is about.
type trouble struct {
	layout func(*layout) // sets it up before the first sync
	set    func(*site)   // or after it
	inputs []string      // of all runs
	ends   int           // exit code of a promotion that is made all the same; zero: it is rolled back, or cannot be
	seen   func(*site)   // instead of a promotion: fails unless the trouble is there
	fix    func(*site)   // instead of what the finding says to paste
	with   []string      // inputs that fix it
	gone   func(*site)   // fails unless all is well, before promotions and a rollback
}

// troubles runs every one on a site of its own, by its rule's name. A variant
// of a rule's has a word more.
func troubles(t *testing.T, all map[string]trouble) {
	t.Parallel()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.show(t, name)
		})
	}
}

// site is one with the trouble.
func (c trouble) site(t *testing.T, name string) *site {
	t.Helper()
	s := newSiteNamed(t, nameOf(name), func(l *layout) {
		if c.layout != nil {
			c.layout(l)
		}
	})
	if c.set != nil {
		c.set(s)
	}
	return s
}

// show fails unless `check` finds the rule, the trouble is real, and both are
// gone with the fix: promotions and a rollback pass.
func (c trouble) show(t *testing.T, name string) {
	t.Helper()
	s := c.site(t, t.Name())
	rule, _, _ := strings.Cut(name, " ")
	found := s.finds(rule, c.inputs...)
	switch {
	case c.seen != nil:
		c.seen(s)
	default:
		c.fails(s)
	}
	switch {
	case c.fix != nil:
		c.fix(s)
	case c.with == nil:
		s.paste(found.Fix)
	}
	s.syncAgain(c.inputs...)
	inputs := slices.Concat(c.inputs, c.with)
	s.findsNot(rule, inputs...)
	inputs = slices.DeleteFunc(inputs, func(in string) bool { return strings.HasPrefix(in, "image=") })
	if c.gone != nil {
		c.gone(s)
	}
	s.promote("v3.0.0", append([]string{"steps=100"}, inputs...)...).exits(0)
	s.settled("v3.0.0")
	s.promote("v4.0.0", append([]string{"steps=100"}, inputs...)...).exits(0)
	s.begin("rollback", inputs...).wait().exits(0)
	s.eventually("the Service is ready", func() bool { return s.live().IsReady() }) // users had it before, by another name for its template
	s.settled("v3.0.0")
}

// fails fails the scenario unless a promotion that is made all the same fails.
func (c trouble) fails(s *site) {
	s.Helper()
	r := s.promote("v2.0.0", append([]string{"steps=100", "preflight=off", "wait-timeout=40s"}, c.inputs...)...)
	if c.ends == 0 && r.Code == 10 { // what stops it stops its rollback too
		return
	}
	r.exits(cmp.Or(c.ends, 8))
}

// finds waits until `check` finds a rule: some look at what Argo CD has said,
// which takes it a moment.
func (s *site) finds(rule string, inputs ...string) event.Finding {
	s.Helper()
	var found []event.Finding
	s.check("finds "+rule, func(all []event.Finding) bool {
		found = slices.DeleteFunc(all, func(f event.Finding) bool { return f.Rule != rule })
		return len(found) > 0
	}, inputs)
	return found[0]
}

// syncAgain does what `check` says of a sync that is tried again as it was before the fix, as Argo CD 3.5 does by itself, and of one
// that has failed: the first keeps the second from being started.
func (s *site) syncAgain(inputs ...string) {
	s.Helper()
	for _, problem := range []string{"is tried again", "has failed"} {
		s.check("has said of the sync", func(all []event.Finding) bool {
			for _, f := range all {
				if (f.Rule == "operation" || f.Rule == "out-of-sync") && strings.Contains(f.Problem, problem) {
					s.paste(f.Fix)
				}
			}
			return true
		}, inputs)
	}
}

// findsNot waits until `check` does not find a rule.
func (s *site) findsNot(rule string, inputs ...string) {
	s.Helper()
	s.check("does not find "+rule, func(all []event.Finding) bool {
		return !slices.ContainsFunc(all, func(f event.Finding) bool { return f.Rule == rule })
	}, inputs)
}

// check waits, for three minutes at most, until the findings of `check` are so.
func (s *site) check(what string, so func([]event.Finding) bool, inputs []string) {
	s.Helper()
	file := filepath.Join(s.TempDir(), "findings.json")
	var report check.Report
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		s.begin("check", append([]string{"image=" + s.Image + ":v2.0.0", "format=json", "output=" + file, "fail-on=never"}, inputs...)...).wait().exits(0)
		text, err := os.ReadFile(file)
		s.must(err)
		report = check.Report{}
		s.must(json.Unmarshal(text, &report))
		if so(slices.Clone(report.Findings)) {
			return
		}
	}
	s.Fatalf("waited in vain until check %s; it finds %+v", what, report.Findings)
}

// paste does what a finding's fix says: its commands in a shell, its part of a
// kustomization in the overlay's.
func (s *site) paste(fix string) {
	s.Helper()
	var commands []string
	for line := range strings.Lines(fix) {
		if strings.HasPrefix(line, "kubectl ") || strings.HasPrefix(line, "argocd ") {
			commands = append(commands, line)
		}
	}
	if _, part, ok := strings.Cut(fix, "/kustomization.yaml"); ok {
		_, part, _ = strings.Cut(part, "\n")
		s.patchOverlay(part)
	} else if commands == nil {
		s.Fatalf("nothing can be pasted of:\n%s", fix)
	}
	script := "source \"$1\"; export ARGOCD_AUTH_TOKEN=$ARGOCD_ADMIN_TOKEN\n" + strings.Join(commands, "\n")
	if out, err := exec.CommandContext(s.Context(), "bash", "-ec", script, "bash", world.EnvFile()).CombinedOutput(); err != nil {
		s.Fatalf("%s: %v\n%s", commands, err, out)
	}
	s.refresh()
}

// patchOverlay commits a part of a kustomization into the overlay's: patches
// come after the others and before those of promotions.
func (s *site) patchOverlay(part string) {
	s.Helper()
	var overlay, added map[string]any
	s.must(yaml.Unmarshal([]byte(s.read("./kustomization.yaml")), &overlay))
	s.must(yaml.Unmarshal([]byte(part), &added))
	patches, _ := overlay["patches"].([]any)
	for key, value := range added {
		overlay[key] = value
	}
	if more, ok := added["patches"].([]any); ok {
		ours := slices.IndexFunc(patches, func(p any) bool {
			path, _ := p.(map[string]any)["path"].(string)
			return strings.HasPrefix(path, "knative-promote-")
		})
		if ours < 0 {
			ours = len(patches)
		}
		overlay["patches"] = slices.Insert(patches, ours, more...)
	}
	text, err := yaml.Marshal(overlay)
	s.must(err)
	s.push("Do as check says", map[string]string{"./kustomization.yaml": string(text)})
}
