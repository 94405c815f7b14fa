package live

import (
	"strings"
	"testing"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// TestLeftOut has targets at 0 % that a commit does not name any more.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	target := func(revision, tag string, percent int64) servingv1.TrafficTarget {
		return servingv1.TrafficTarget{RevisionName: revision, Tag: tag, Percent: &percent}
	}
	for name, test := range map[string]struct {
		wanted, committed []servingv1.TrafficTarget
		latest, want      string
	}{
		"all are there": {[]servingv1.TrafficTarget{target("v1", "look", 0)}, []servingv1.TrafficTarget{target("v2", "", 100), target("v1", "look", 0)}, "", ""},
		"our own": {[]servingv1.TrafficTarget{target("v2", "", 100), target("v1", knative.PreviousTag, 0)}, []servingv1.TrafficTarget{target("v2", "", 100)}, "",
			"the tag previous, which is ours, is left out of the traffic: revision v1 does not exist, so Knative would route nothing anew"},
		"our own, which is rolled back to": {[]servingv1.TrafficTarget{target("v2", "", 100), target("v1", knative.PreviousTag, 0)}, []servingv1.TrafficTarget{target("v1", "", 100)}, "", ""},
		"somebody's, twice": {[]servingv1.TrafficTarget{target("v1", "look", 0), target("v1", "look", 0), target("v0", "", 0)}, []servingv1.TrafficTarget{target("v2", "", 100)}, "",
			"somebody's tag look is left out of the traffic: revision v1 does not exist, so Knative would route nothing anew; " +
				"somebody's target without a tag is left out of the traffic: revision v0 does not exist, so Knative would route nothing anew"},
		"with a share": {[]servingv1.TrafficTarget{target("v1", "", 10)}, nil, "", ""},
		"that follows the latest": {[]servingv1.TrafficTarget{target("", "preview", 0)}, []servingv1.TrafficTarget{target("v1", "", 100)}, "v2",
			"somebody's tag preview is left out of the traffic: the latest revision, v2, does not exist, so Knative would route nothing anew"},
		"that follows an unknown latest": {[]servingv1.TrafficTarget{target("", "preview", 0)}, []servingv1.TrafficTarget{target("v1", "", 100)}, "", ""},
		"the latest with a share":        {[]servingv1.TrafficTarget{target("", "live", 100)}, []servingv1.TrafficTarget{target("v1", "live", 100)}, "v2", ""},
	} {
		got := strings.Join(LeftOut(test.wanted, test.committed, latestIs(test.latest), func(string) string { return "does not exist" }), "; ")
		if got != test.want {
			t.Errorf("%s: got %q\nwant %q", name, got, test.want)
		}
	}
}

// latestIs is a Service with a latest ready revision; empty: none was seen.
func latestIs(name string) *servingv1.Service {
	if name == "" {
		return nil
	}
	service := &servingv1.Service{}
	service.Status.LatestReadyRevisionName = name
	return service
}
