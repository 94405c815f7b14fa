package check

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
)

// TestWindowsAgreeWithArgoCD compares with Argo CD's own judgement, which is
// only to be had for the present moment.
func TestWindowsAgreeWithArgoCD(t *testing.T) {
	t.Parallel()
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	seen := map[bool]int{}
	for range 3000 {
		app := &v1alpha1.Application{}
		app.Name, app.Spec.Destination.Namespace = "web", "production"
		project := &v1alpha1.AppProject{}
		for range 1 + random.IntN(4) {
			project.Spec.SyncWindows = append(project.Spec.SyncWindows, &v1alpha1.SyncWindow{
				Kind:     pick("allow", "deny"),
				Schedule: pick("0 * * * *", "*/5 * * * *", "30 6 * * 1-5", "0 22 * * *", "0 0 1 * *", "15 3 29 2 *", "0 0 31 2 *"),
				Duration: pick("1m", "4m", "30m", "1h", "12h", "100h"), TimeZone: pick("", "UTC", "Asia/Kolkata", "Pacific/Auckland"),
				ManualSync: random.IntN(2) == 0, Namespaces: []string{pick("*", "prod*", "staging")},
			})
		}
		facts := Facts{Setup: argo.Setup{App: app, Project: project}}
		all, ok := syncWindows(facts.Setup)
		if !ok {
			t.Fatalf("not understood: %v", project.Spec.SyncWindows)
		}
		for _, byHand := range []bool{false, true} {
			want, err := project.Spec.SyncWindows.Matches(app).CanSync(byHand)
			if err != nil {
				t.Fatal(err)
			}
			seen[want]++
			if got := open(all, time.Now(), byHand); got != want {
				t.Errorf("by hand %v: open is %v, Argo CD says %v, by %v", byHand, got, want, project.Spec.SyncWindows)
			}
		}
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("the windows were open and closed %v times", seen)
	}
}

func TestNextChange(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC) // a Saturday; the clocks in Berlin change at 01:00 UTC
	for name, test := range map[string]struct {
		windows v1alpha1.SyncWindows
		want    bool
		at      string
	}{
		"the weekend is over":      {v1alpha1.SyncWindows{{Kind: "deny", Schedule: "0 0 * * 6", Duration: "48h", TimeZone: "UTC"}}, true, "2026-03-30T00:00:00Z"},
		"summer time":              {v1alpha1.SyncWindows{{Kind: "allow", Schedule: "0 8 * * *", Duration: "1h", TimeZone: "Europe/Berlin"}}, true, "2026-03-29T06:00:00Z"},
		"one after the other":      {v1alpha1.SyncWindows{{Kind: "deny", Schedule: "0 22 * * *", Duration: "2h"}, {Kind: "deny", Schedule: "0 0 * * *", Duration: "2h"}}, true, "2026-03-29T02:00:00Z"},
		"allowed and denied":       {v1alpha1.SyncWindows{{Kind: "allow", Schedule: "0 0 * * *", Duration: "4h"}, {Kind: "deny", Schedule: "0 0 * * *", Duration: "3h"}}, true, "2026-03-29T03:00:00Z"},
		"a leap year":              {v1alpha1.SyncWindows{{Kind: "allow", Schedule: "0 0 29 2 *", Duration: "1h"}}, true, "2028-02-29T00:00:00Z"},
		"open already":             {v1alpha1.SyncWindows{{Kind: "deny", Schedule: "0 8 * * *", Duration: "1h"}}, true, "2026-03-28T23:00:00Z"},
		"closes":                   {v1alpha1.SyncWindows{{Kind: "deny", Schedule: "0 8 * * *", Duration: "1h"}}, false, "2026-03-29T08:00:00Z"},
		"never":                    {v1alpha1.SyncWindows{{Kind: "deny", Schedule: "* * * * *", Duration: "2m"}}, true, ""},
		"a day that never comes":   {v1alpha1.SyncWindows{{Kind: "allow", Schedule: "0 0 31 2 *", Duration: "1h"}}, true, "2026-03-28T23:00:00Z"},
		"a zone that is not there": {v1alpha1.SyncWindows{{Kind: "allow", Schedule: "0 8 * * *", Duration: "1h", TimeZone: "Nowhere/Here"}}, true, "2026-03-29T08:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := &v1alpha1.Application{}
			for _, w := range test.windows {
				w.Namespaces = []string{"*"}
			}
			facts := Facts{Setup: argo.Setup{App: app, Project: &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SyncWindows: test.windows}}}}
			all, ok := syncWindows(facts.Setup)
			if !ok {
				t.Fatal("not understood")
			}
			at, found := next(all, now, false, test.want)
			if got := at.UTC().Format(time.RFC3339); found != (test.at != "") || found && got != test.at {
				t.Errorf("got %s, %v, want %q", got, found, test.at)
			}
		})
	}
}
