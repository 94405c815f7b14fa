package knative_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// FuzzTargets promotes in any traffic: what ReadSplit takes must give traffic
// that Knative accepts at every share, and that reads back as what it was.
func FuzzTargets(f *testing.F) {
	f.Add([]byte{}, uint8(0), true)
	f.Add([]byte{1, 0, 100}, uint8(10), true)
	f.Add([]byte{1, 3, 100, 1, 4, 0, 2, 0, 0, 2, 0, 0}, uint8(100), false)
	f.Add([]byte{0, 4, 100, 1, 2, 0, 3, 1, 0}, uint8(50), true)
	f.Add([]byte{1, 2, 100, 2, 3, 0}, uint8(100), true)
	f.Add([]byte{1, 0, 100, 4, 3, 0, 4, 0, 0}, uint8(100), true)
	f.Add([]byte("020000000000"), uint8(100), false)             // somebody gave the previous revision all traffic again
	f.Add([]byte{0, 5, 100, 0, 3, 0, 1, 4, 0}, uint8(100), true) // tags that go with the traffic
	f.Add([]byte{0, 5, 50, 0, 3, 50}, uint8(10), true)
	moving := []string{"red", "blue"}
	f.Fuzz(func(t *testing.T, data []byte, share uint8, keep bool) {
		split, err := knative.ReadSplit(anyTraffic(data), "candidate", moving)
		if err != nil {
			return
		}
		if split.Stable == "" {
			split.Stable = "shop-0"
		}
		split.Candidate, split.Percent = "shop-4", int(share)%101
		if split.Stable == split.Candidate {
			split.Stable = "shop-0"
		}
		targets := split.Targets("candidate", keep)
		if err := validTraffic(targets); err != nil {
			t.Fatalf("%s: %v", knative.Describe(targets), err)
		}
		again, err := knative.ReadSplit(targets, "candidate", moving)
		if err != nil {
			t.Fatalf("%s: %v", knative.Describe(targets), err)
		}
		if diff := cmp.Diff(rest(split, keep), rest(again, keep)); diff != "" {
			t.Errorf("%s reads back as another split (-was +is):\n%s", knative.Describe(targets), diff)
		}
		if back := again.Targets("candidate", keep); !knative.SameTraffic(back, targets) {
			t.Errorf("%s became %s", knative.Describe(targets), knative.Describe(back))
		}
	})
}

// rest is what must read back of a split: at 100 % the candidate is the stable
// revision, and the stable one is the previous, if that is kept.
func rest(s knative.Split, keep bool) knative.Split {
	s.Foreign = nil // compared as targets
	if s.Percent == 100 {
		s = knative.Split{Stable: s.Candidate, Previous: s.Stable, Moving: s.Moving}
		if !keep {
			s.Previous = ""
		}
	}
	return s
}

// anyTraffic reads three bytes a target.
func anyTraffic(data []byte) []servingv1.TrafficTarget {
	revisions := []string{"", "shop-1", "shop-2", "shop-3", "shop-4"}
	tags := []string{"", "candidate", "previous", "blue", "green", "red"}
	var traffic []servingv1.TrafficTarget
	for ; len(data) >= 3; data = data[3:] {
		target := servingv1.TrafficTarget{RevisionName: revisions[int(data[0])%len(revisions)], Tag: tags[int(data[1])%len(tags)]}
		if percent := int64(data[2]); percent <= 100 {
			target.Percent = &percent
		}
		traffic = append(traffic, target)
	}
	return traffic
}

func validTraffic(traffic []servingv1.TrafficTarget) error {
	ctx := servingv1.WithDefaultConfigurationName(apis.WithinSpec(context.Background()))
	spec := servingv1.RouteSpec{Traffic: traffic}
	if err := spec.Validate(ctx); err != nil {
		return err
	}
	return nil
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	traffic := []servingv1.TrafficTarget{
		{RevisionName: "shop-1", Percent: new(int64(90))},
		{RevisionName: "shop-2", Percent: new(int64(10)), Tag: "candidate"},
		{Tag: "edge"},
	}
	if got, want := knative.Describe(traffic), "90 % shop-1, 10 % shop-2 (candidate), 0 % latest (edge)"; got != want {
		t.Errorf("%q instead of %q", got, want)
	}
	if got, want := knative.Describe(nil), "100 % latest"; got != want {
		t.Errorf("%q instead of %q", got, want)
	}
}

func TestSameTraffic(t *testing.T) {
	t.Parallel()
	one := servingv1.TrafficTarget{RevisionName: "shop-1", Percent: new(int64(0)), LatestRevision: new(false)}
	for name, c := range map[string]struct {
		other servingv1.TrafficTarget
		same  bool
	}{
		"defaults left out": {servingv1.TrafficTarget{RevisionName: "shop-1"}, true},
		"share":             {servingv1.TrafficTarget{RevisionName: "shop-1", Percent: new(int64(1))}, false},
		"revision":          {servingv1.TrafficTarget{RevisionName: "shop-2"}, false},
		"latest":            {servingv1.TrafficTarget{LatestRevision: new(true)}, false},
		"tag":               {servingv1.TrafficTarget{RevisionName: "shop-1", Tag: "blue"}, false},
		"configuration":     {servingv1.TrafficTarget{RevisionName: "shop-1", ConfigurationName: "shop"}, false},
	} {
		if got := knative.SameTraffic([]servingv1.TrafficTarget{one}, []servingv1.TrafficTarget{c.other}); got != c.same {
			t.Errorf("%s: %t", name, got)
		}
	}
	if knative.SameTraffic([]servingv1.TrafficTarget{one}, nil) {
		t.Error("one target is the same as none")
	}
	two := servingv1.TrafficTarget{RevisionName: "shop-2"}
	if knative.SameTraffic([]servingv1.TrafficTarget{one, two}, []servingv1.TrafficTarget{two, one}) {
		t.Error("another order is the same")
	}
}
