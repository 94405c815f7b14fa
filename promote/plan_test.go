package promote

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

const overlay = "apps/product-import/overlays/production"

func config(steps ...Step) Config {
	return Config{Steps: steps, CandidateTag: "candidate", KeepPrevious: true}
}

// ours is what the tests plan for.
func ours() Target {
	return Target{Target: argo.Target{Service: "product-import"}, Environment: "production", Overlay: overlay}
}

// base is the example overlay as it is before any promotion.
func base(t *testing.T) *knative.State {
	t.Helper()
	state, err := knative.Read(t.Context(), os.DirFS("../testdata/infra"), overlay, "product-import")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func setTag(t *testing.T, state *knative.State, tag string) *knative.State {
	t.Helper()
	next, err := state.SetImages(t.Context(), []kustomize.Image{{Name: "ghcr.io/acme/product-import", NewTag: tag}})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func revisionOf(t *testing.T, state *knative.State) string {
	t.Helper()
	name, err := state.NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func route(t *testing.T, state *knative.State, traffic ...servingv1.TrafficTarget) *knative.State {
	t.Helper()
	next, err := state.Route(t.Context(), revisionOf(t, state), traffic, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func target(revision string, percent int64, tag string) servingv1.TrafficTarget {
	return servingv1.TrafficTarget{RevisionName: revision, Percent: &percent, Tag: tag, LatestRevision: new(false)}
}

// recordOf is the record of a step of a promotion.
func recordOf(step, from, to string) Record {
	return Record{
		Promotion: "00000000abcd", Overlay: overlay, Step: step, Percent: shareOf(step), Base: "b0", From: Version{Revision: from}, To: Version{Revision: to},
	}
}

// passed is a record whose gates have passed.
func passed(r Record) Record {
	r.Passed = time.Unix(1, 0)
	return r
}

// inWords is a plan as text, with the hashes of the two templates replaced.
func inWords(t *testing.T, plan Plan) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "from %q to %q base %q\n", plan.From, plan.To, plan.Base)
	for _, step := range plan.Steps {
		fmt.Fprintf(&b, "%s", step.Name)
		if step.Bake > 0 {
			fmt.Fprintf(&b, " baked %s", step.Bake)
		}
		if step.Done {
			b.WriteString(" (done)")
		}
		fmt.Fprintf(&b, ": %s\n", knative.Describe(step.Traffic))
	}
	old, next := revisionOf(t, base(t)), revisionOf(t, setTag(t, base(t), "v2.0.0"))
	return strings.NewReplacer(old, "OLD", next, "NEW").Replace(b.String())
}

func TestNewPlan(t *testing.T) {
	t.Parallel()
	const live = "product-import-00001"
	now := base(t)
	next := setTag(t, now, "v2.0.0")
	oldName, newName := revisionOf(t, now), revisionOf(t, next)
	owned := route(t, now, target(oldName, 100, ""), target("product-import-older", 0, "previous"))
	ownedNext := setTag(t, owned, "v2.0.0")
	at10 := route(t, next, target(oldName, 90, ""), target(newName, 10, "candidate"))
	at100 := route(t, next, target(newName, 100, ""), target(oldName, 0, "previous"))
	started, done := recordOf("10", oldName, newName), recordOf("100", oldName, newName)
	ten, fifty, all := Step{Percent: 10, Bake: 5 * time.Minute}, Step{Percent: 50}, Step{Percent: 100}
	for name, test := range map[string]struct {
		config Config
		at     Situation
		want   string
	}{
		"first promotion pins the live revision": {
			config(ten, fifty, all), Situation{Now: now, Next: next, LatestReady: live},
			`from "product-import-00001" to "NEW" base "tip"
candidate: 100 % product-import-00001, 0 % NEW (candidate)
10 % baked 5m0s: 90 % product-import-00001, 10 % NEW (candidate)
50 %: 50 % product-import-00001, 50 % NEW (candidate)
100 %: 100 % NEW, 0 % product-import-00001 (previous)
`},
		"first deployment": {
			config(ten, all), Situation{Now: now, Next: next},
			`from "" to "NEW" base ""
100 %: 100 % NEW
`},
		"previous is kept until the end": {
			config(all), Situation{Now: owned, Next: ownedNext, LatestReady: live},
			`from "OLD" to "NEW" base "tip"
candidate: 100 % OLD, 0 % NEW (candidate), 0 % product-import-older (previous)
100 %: 100 % NEW, 0 % OLD (previous)
`},
		"previous that is gone is not named": {
			config(all), Situation{Now: owned, Next: ownedNext, LatestReady: live, NoPrevious: true},
			`from "OLD" to "NEW" base "tip"
candidate: 100 % OLD, 0 % NEW (candidate)
100 %: 100 % NEW, 0 % OLD (previous)
`},
		"steps that end below 100": {
			config(ten), Situation{Now: owned, Next: ownedNext, NoPrevious: true},
			`from "OLD" to "NEW" base "tip"
candidate: 100 % OLD, 0 % NEW (candidate)
10 % baked 5m0s: 90 % OLD, 10 % NEW (candidate)
`},
		"a candidate alone waits for an approval": {
			config(Step{Bake: time.Minute}), Situation{Now: owned, Next: ownedNext, NoPrevious: true},
			`from "OLD" to "NEW" base "tip"
candidate baked 1m0s: 100 % OLD, 0 % NEW (candidate)
`},
		"resume asks the gates of the present step first": {
			config(ten, fifty, all), Situation{Now: at10, Next: at10, Record: started},
			`from "OLD" to "NEW" base "b0"
10 % baked 5m0s (done): 90 % OLD, 10 % NEW (candidate)
50 %: 50 % OLD, 50 % NEW (candidate)
100 %: 100 % NEW, 0 % OLD (previous)
`},
		"resume with other steps": {
			config(Step{Percent: 5}, all), Situation{Now: at10, Next: at10, Record: started},
			`from "OLD" to "NEW" base "b0"
10 % (done): 90 % OLD, 10 % NEW (candidate)
100 %: 100 % NEW, 0 % OLD (previous)
`},
		"a promotion under way is taken over from its base": {
			config(all), Situation{Now: at10, Next: setTag(t, at10, "v3.0.0"), Record: started},
			`from "OLD" to "` + revisionOf(t, setTag(t, now, "v3.0.0")) + `" base "b0"
candidate: 100 % OLD, 0 % ` + revisionOf(t, setTag(t, now, "v3.0.0")) + ` (candidate)
100 %: 100 % ` + revisionOf(t, setTag(t, now, "v3.0.0")) + `, 0 % OLD (previous)
`},
		"back to the stable revision needs one commit": {
			config(ten, all), Situation{Now: at10, Next: setTag(t, at10, "v1.0.0"), Record: started},
			`from "OLD" to "OLD" base "b0"
100 %: 100 % OLD
`},
		"a step that has passed does not bake again": {
			config(ten, all), Situation{Now: at10, Next: at10, Record: passed(started)},
			`from "OLD" to "NEW" base "b0"
10 % (done): 90 % OLD, 10 % NEW (candidate)
100 %: 100 % NEW, 0 % OLD (previous)
`},
		"what has passed is looked at only": {
			config(ten, all), Situation{Now: at100, Next: at100, Record: passed(done)},
			`from "OLD" to "NEW" base ""
100 % (done): 100 % NEW, 0 % OLD (previous)
`},
		"what has not passed may be rolled back": {
			config(Step{Percent: 100, Bake: time.Minute}), Situation{Now: at100, Next: at100, Record: done},
			`from "OLD" to "NEW" base "b0"
100 % baked 1m0s (done): 100 % NEW, 0 % OLD (previous)
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.at.Target, test.at.Tip = ours(), gitops.Commit{Hash: "tip"}
			plan, err := NewPlan(test.config, test.at)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, inWords(t, plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewPlanRefuses(t *testing.T) {
	t.Parallel()
	now := base(t)
	newName := revisionOf(t, setTag(t, now, "v2.0.0"))
	const file = "apps/product-import/overlays/production/knative-promote-product-import.yaml"
	ab := []servingv1.TrafficTarget{target("product-import-a", 90, ""), target("product-import-b", 10, "candidate")}
	for name, test := range map[string]struct {
		traffic []servingv1.TrafficTarget
		at      Situation
		steps   []Step
		want    string
	}{
		"shared traffic": {
			[]servingv1.TrafficTarget{target("product-import-a", 60, ""), target("product-import-b", 40, "")}, Situation{}, nil,
			"overlay apps/product-import/overlays/production: the traffic is shared by product-import-a and product-import-b, but a promotion moves all of it from one revision: give one of them 100 % first (the others may stay at 0 % under a tag)",
		},
		"a candidate that is not ours": {
			ab, Situation{}, nil,
			"revision product-import-b has the tag of the candidate, but no record of knative-promote says so: take it out of the traffic in apps/product-import/overlays/production first, or choose another candidate-tag",
		},
		"a candidate of another record": {
			ab, Situation{Record: recordOf("10", "product-import-a", newName)}, nil,
			"the record in " + file + " says that product-import-a has 90 % of the traffic, and " + newName + " as candidate 10 %, but there product-import-a has 90 % of the traffic, and product-import-b as candidate 10 %: make the traffic what the record says, or take the candidate out of the traffic and the record out of the file (the comment lines below its first one)",
		},
		"a record that was copied here": {
			ab, Situation{Record: Record{Promotion: "00000000abcd", Overlay: "apps/product-import/overlays/staging"}}, nil,
			"the record in " + file + " is of the overlay apps/product-import/overlays/staging, from where the file was copied or moved: take the record out of it (the comment lines below its first one)",
		},
		"a record that cannot be read": {
			ab, Situation{Unreadable: errors.New("its end is missing")}, nil,
			"the record in " + file + " cannot be read: its end is missing: put the file back as a commit before has it, or take the record out of it (the comment lines below its first one), which forgets what was promoted before",
		},
		"steps below what the candidate has": {
			[]servingv1.TrafficTarget{target("product-import-a", 50, ""), target(newName, 50, "candidate")},
			Situation{Record: recordOf("50", "product-import-a", newName)}, []Step{{Percent: 10}},
			"steps: the last is 10, but " + newName + " has 50 % already: expected a last step of 50 or more, or a rollback",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.at.Now = route(t, setTag(t, now, "v2.0.0"), test.traffic...)
			test.at.Next = test.at.Now
			if test.steps == nil {
				test.at.Now, test.steps = route(t, now, test.traffic...), []Step{{Percent: 100}}
				test.at.Next = setTag(t, test.at.Now, "v2.0.0")
			}
			test.at.Target = ours()
			_, err := NewPlan(config(test.steps...), test.at)
			if err == nil || err.Error() != test.want {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

// TestCopiedRecord copies an overlay with its record. What was promoted there was
// not promoted here, and a generated name is of another revision.
func TestCopiedRecord(t *testing.T) {
	t.Parallel()
	now := route(t, base(t), target("product-import-00001", 100, ""))
	copied := passed(recordOf("100", "product-import-00001", "product-import-b"))
	copied.Overlay, copied.From.Images = "apps/product-import/overlays/staging", []string{"ghcr.io/acme/product-import:v9"}
	c := config(Step{Percent: 100})
	plan, err := NewPlan(c, Situation{Target: ours(), Now: now, Next: setTag(t, now, "v2.0.0"), Record: copied})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(now.Images(), plan.from.Images); diff != "" {
		t.Errorf("the old revision's images (-want +got):\n%s", diff)
	}
	if past := stepRecord(c, plan, "candidate", copied).Past; len(past) > 0 {
		t.Errorf("the past of another overlay is taken over: %v", past)
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"ghcr.io/acme/a:v2.0.0":                       "v2.0.0",
		"localhost:5000/a":                            "no tag",
		"ghcr.io/acme/a@sha256:0123456789abcdef01234": "sha256:0123456789ab",
		"ghcr.io/acme/a:v1@sha256:0123456789abcdef":   "v1",
	} {
		if got := version(image); got != want {
			t.Errorf("version(%q) = %q, want %q", image, got, want)
		}
	}
}
