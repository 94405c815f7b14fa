package source

import (
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/promote/record"
)

// TestAllMissing has what several sources lack: a line for each, and until when.
func TestAllMissing(t *testing.T) {
	t.Parallel()
	at := func(overlay string, passed time.Time) Observed {
		s := goodSource(t)
		s.Overlay, s.Record.Overlay, s.Record.Passed = overlay, overlay, passed
		return s
	}
	qa, uat, late := at("qa", noon), at("uat", noon.Add(time.Minute)), at("late", noon.Add(2*time.Hour))
	broken := at("broken", noon)
	broken.apps = nil
	const soaks = "from: uat is not to be promoted yet: it is good since 2026-11-22T12:01:00Z, and soak wants 1h0m0s"
	for name, test := range map[string]struct {
		observed []Observed
		want     string
	}{
		"none":          {[]Observed{qa}, ""},
		"one of two":    {[]Observed{qa, uat}, soaks + "; nothing was changed: start the run again at 2026-11-22T13:01:00Z"},
		"the last one":  {[]Observed{uat, qa, late}, soaks + "\nfrom: late is not to be promoted yet: it is good since 2026-11-22T14:00:00Z, and soak wants 1h0m0s; nothing was changed: start the run again at 2026-11-22T15:00:00Z"},
		"the first one": {[]Observed{late, uat}, "from: late is not to be promoted yet: it is good since 2026-11-22T14:00:00Z, and soak wants 1h0m0s\n" + soaks + "; nothing was changed: start the run again at 2026-11-22T15:00:00Z"},
		"one that nobody knows of": {[]Observed{uat, broken, late}, soaks + "\nfrom: broken is not to be promoted yet: no Application that the token sees deploys it\n" +
			"from: late is not to be promoted yet: it is good since 2026-11-22T14:00:00Z, and soak wants 1h0m0s; nothing was changed"},
	} {
		var c Wants
		c.Soak = time.Hour
		got := ""
		if missing := AllMissing(test.observed, c, noon.Add(time.Hour)); missing != nil {
			got = missing.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

// TestImagesOfAll has several sources, which run the same or do not.
func TestImagesOfAll(t *testing.T) {
	t.Parallel()
	runs := func(tag, digest string) Observed {
		s := goodSource(t)
		s.Now, s.Overlay = promotetest.SetTag(t, s.Now, tag), tag
		s.apps = []appSeen{{seen: argo.Observed{Revision: running(digest)}}}
		return s
	}
	one, other := "sha256:"+zeros, "sha256:1"+zeros[1:]
	for name, test := range map[string]struct {
		observed []Observed
		want     string
	}{
		"the same":                       {[]Observed{runs("v2", one), runs("v2", one)}, "v2@" + one},
		"the same by another tag":        {[]Observed{runs("v2", one), runs("latest", one)}, "v2@" + one},
		"another one by the same tag":    {[]Observed{runs("v2", one), runs("v2", other)}, "from: v2 is not to be promoted yet: it runs ghcr.io/acme/product-import:v2@" + other + ", and v2 runs ghcr.io/acme/product-import:v2@" + one + "; nothing was changed"},
		"one of three":                   {[]Observed{runs("v2", one), runs("v2", one), runs("v3", other)}, "from: v3 is not to be promoted yet: it runs ghcr.io/acme/product-import:v3@" + other + ", and v2 runs ghcr.io/acme/product-import:v2@" + one + "; nothing was changed"},
		"no digests, and the same tag":   {[]Observed{runs("v2", ""), runs("v2", "")}, "v2"},
		"no digests, and another tag":    {[]Observed{runs("v2", ""), runs("v3", "")}, "from: v3 is not to be promoted yet: it runs ghcr.io/acme/product-import:v3, and v2 runs ghcr.io/acme/product-import:v2; nothing was changed"},
		"one digest, and nobody can say": {[]Observed{runs("v2", one), runs("v2", "")}, "from: v2 is not to be promoted yet: it runs ghcr.io/acme/product-import:v2, and v2 runs ghcr.io/acme/product-import:v2@" + one + "; nothing was changed"},
	} {
		images, err := ImagesOfAll(test.observed, promotetest.Example(t))
		got := shownImages(images)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

// shownImages are images by their tags and digests.
func shownImages(images []kustomize.Image) string {
	var all []string
	for _, i := range images {
		all = append(all, strings.TrimSuffix(i.NewTag+"@"+i.Digest, "@"))
	}
	return strings.Join(all, " ")
}

// TestTakesFrom has promotions under way, which go on with the sources that they
// began with.
func TestTakesFrom(t *testing.T) {
	t.Parallel()
	state := promotetest.Example(t)
	r := record.Record{
		Promotion: "3f9c2d1e8a71", Step: "10", Percent: 10, To: record.VersionOf("v2", state),
		Source: record.Source{Overlay: "qa", With: []record.Source{{Overlay: "uat"}}},
	}
	for _, test := range []struct {
		from []string
		want bool
	}{
		{[]string{"qa", "uat"}, true}, {[]string{"uat", "qa"}, true}, {[]string{"uat"}, true},
		{[]string{"qa", "uat", "dev"}, false}, {[]string{"dev"}, false},
	} {
		if got := r.TakesFrom(test.from, state); got != test.want {
			t.Errorf("from %v: under way is %t, want %t", test.from, got, test.want)
		}
	}
	r.Step, r.Percent, r.Passed = "0", 0, time.Now()
	if r.TakesFrom([]string{"qa", "uat"}, state) {
		t.Error("a candidate at 0 % whose record says that it has passed is under way")
	}
}
