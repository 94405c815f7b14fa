package promote

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
)

// TestTargetsFrozen promotes two targets in one run, of which windows freeze one
// or both: no commit is made for any, unless all that freezes is overridden.
func TestTargetsFrozen(t *testing.T) {
	t.Parallel()
	const always = "{from: 1999-01-01T00:00, until: 2999-01-01T00:00, description: "
	for _, test := range []struct {
		name, windows string
		override      guard.Override
		want          event.Status
		reason        string
	}{
		{"neither", "exclude: [" + always + "x, services: [other]}]", "", event.Promoted, ""},
		{"one", "exclude: [" + always + "x, services: [cart]}]", "", event.Frozen, "frozen by"},
		{"one that may be overridden", "exclude: [" + always + "x, services: [cart], override: true}]", "", event.Frozen, "or with override: freeze and a reason"},
		{"one that is overridden", "exclude: [" + always + "x, services: [cart], override: true}]", guard.OverrideFreeze, event.Promoted, "overridden: excluded: x (line 1): urgent"},
		{"one that may not be overridden", "exclude: [" + always + "x, services: [web], override: true}, " + always + "y, services: [cart]}]", guard.OverrideFreeze, event.Frozen,
			"excluded: y (line 1), until 2999-01-01 00:00 UTC: start the run again then; override: freeze is not permitted: what freezes it does not say override: true"},
		{"both overridden", "exclude: [" + always + "x, override: true}]", guard.OverrideFreeze, event.Promoted, "overridden: excluded: x (line 1): urgent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			if err := gittest.Commit(p.bare, "main", "Freeze", fstest.MapFS{guard.DefaultWindows: {Data: []byte(test.windows)}}); err != nil {
				t.Fatal(err)
			}
			c := pairConfig([]plan.Step{{Percent: 50}, {Percent: 100}}, "web", "cart")
			c.Guards.Override, c.Reason = []guard.Override{test.override}, "urgent"
			results, err := p.run(c, p.failing(-1))
			for _, r := range results {
				if r.Status != test.want || r.Frozen != (test.want == event.Frozen) || !strings.Contains(r.Reason, test.reason) {
					t.Errorf("%s ended %s with %v, because: %s", r.Service, r.Status, err, r.Reason)
				}
			}
			log, err := gittest.Git(p.bare, nil, "log", "--format=%(trailers:key=Promotion-Override,valueonly,separator=%x2C)", "main")
			if err != nil {
				t.Fatal(err)
			}
			wantCommits, wantOverrides := 2+4, 0 // with the repository's own, and that of the freeze
			if test.want == event.Frozen {
				wantCommits = 2
			}
			if strings.HasPrefix(test.reason, "overridden") {
				wantOverrides = 3 * 2
			}
			if commits, overrides := strings.Count(log+"\n", "\n"), strings.Count(log, "freeze"); commits != wantCommits || overrides != wantOverrides {
				t.Errorf("%d commits, %d overrides, want %d, %d", commits, overrides, wantCommits, wantOverrides)
			}
		})
	}
}

// forgetful is a branch on which somebody stops the line right after a push whose
// answer is lost, so that the change is made again.
type forgetful struct {
	pair
	pushes int
}

func (f *forgetful) Tip(ctx context.Context) (gitops.Snapshot, error) { return f.repo.Tip(ctx) }

func (f *forgetful) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	commit, err := f.repo.Publish(ctx, change)
	if f.pushes++; err != nil || f.pushes != 2 {
		return commit, err
	}
	stop := fstest.MapFS{guard.DefaultWindows: {Data: []byte("stop: {reason: incident 4711}")}}
	if err := gittest.Commit(f.bare, "main", "Stop the line", stop); err != nil {
		return commit, err
	}
	return f.repo.Publish(ctx, change)
}

// TestFrozenAfterPush has the line stopped on top of a step that is there already:
// that step is not frozen, and the next one is.
func TestFrozenAfterPush(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	c := pairConfig([]plan.Step{{Percent: 50}, {Percent: 100}}, "web")
	results, err := Run(t.Context(), c, Systems{Branch: &forgetful{pair: p}, Commits: p.repo, Cluster: p.failing(-1), Reporter: silent{}})
	const want = "the line is stopped: incident 4711 (line 1), until the file changes"
	r := results[0]
	if r.Status != event.Held || !r.Frozen || err == nil || !strings.Contains(err.Error(), "100 %: ") || !strings.Contains(err.Error(), want) {
		t.Errorf("it ended %s with %v", r.Status, err)
	}
	for i, want := range []event.Progress{event.Passed, event.Passed, event.Skipped} {
		if r.Steps[i].Progress != want {
			t.Errorf("step %s is %s, want %s", r.Steps[i].Name, r.Steps[i].Progress, want)
		}
	}
}
