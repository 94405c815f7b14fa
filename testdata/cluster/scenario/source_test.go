//go:build cluster

package scenario

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestFromStaging: production takes what runs in staging, and nothing from a
// staging that is not good. Nobody looks up the digests of these images, so it is
// the tag that moves.
func TestFromStaging(t *testing.T) {
	t.Parallel()
	s := newSite(t, withStaging)
	staging := s.staging()
	staging.settled("v1.0.0")
	from := func(code int, says string, inputs ...string) *run {
		t.Helper()
		before := s.git("rev-parse", "main")
		r := s.begin("promote", append([]string{"from=" + staging.Overlay}, inputs...)...).wait().exits(code)
		if r.says(says); code != 0 && s.git("rev-parse", "main") != before {
			t.Error("it has made a commit")
		}
		return r
	}
	from(15, "nothing was promoted there yet")
	first := staging.live().Status.LatestReadyRevisionName
	staging.promote("v2.0.0").exits(0)
	passed := s.git("rev-parse", "main")
	from(15, "and soak wants 1h0m0s", "soak=1h")
	from(0, "promoted, all traffic goes to "+s.Service, "steps=50,100")
	s.settled("v2.0.0")

	// Somebody edits the Service, and Argo CD does not heal that by itself.
	staging.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
	staging.patchService(`{"spec": {"traffic": [{"revisionName": "` + first + `", "percent": 100}]}}`)
	staging.becomes("OutOfSync", "Healthy")
	from(15, "does not show it live")
	staging.patchApplication(`[{"op": "add", "path": "/spec/syncPolicy/automated", "value": {"prune": true, "selfHeal": true}}]`)
	staging.becomes("Synced", "Healthy")

	staging.promote("v3.0.0-broken", "wait-timeout=1m").exits(8)
	from(15, "its last promotion was rolled back")
	staging.promote("v4.0.0", "steps=50").exits(0)
	from(15, "a promotion is under way there")
	staging.promote("v4.0.0", "steps=100").exits(0)

	// A person's revert brings the record of v2.0.0 back, which passed long ago.
	staging.push("Back to v2.0.0", map[string]string{
		"./kustomization.yaml":                              s.git("show", passed+":"+staging.Overlay+"/kustomization.yaml"),
		"./knative-promote-" + s.Service + ".yaml":          s.git("show", passed+":"+staging.Overlay+"/knative-promote-"+s.Service+".yaml"),
		"./knative-promote-" + s.Service + ".defaults.yaml": s.git("show", passed+":"+staging.Overlay+"/knative-promote-"+s.Service+".defaults.yaml"),
	})
	pushed := time.Now().Truncate(time.Second)
	staging.refresh()
	staging.eventually("v2.0.0 is live again", func() bool {
		live := staging.live()
		return live.IsReady() && live.Status.ObservedGeneration == live.Generation && strings.HasSuffix(live.Spec.Template.Spec.Containers[0].Image, ":v2.0.0")
	})
	staging.settled("v2.0.0")
	r := from(15, "and soak wants 1h0m0s", "soak=1h")
	since, err := time.Parse(time.RFC3339, regexp.MustCompile(`good since ([^ ,]+),`).FindStringSubmatch(r.log.String())[1])
	if err != nil || since.Before(pushed) {
		t.Errorf("it is good since %s, %v, and the revert was pushed at %s", since, err, pushed)
	}
}

// withStaging adds another overlay of the same base, for a namespace of its own.
func withStaging(l *layout) { withOverlay(l, "staging") }

func withOverlay(l *layout, environment string) {
	for path, file := range maps.Clone(l.Files) {
		if name, inside := strings.CutPrefix(path, l.Overlay+"/"); inside {
			l.set("apps/"+l.Service+"/overlays/"+environment+"/"+name, strings.ReplaceAll(string(file.Data), "namespace: "+l.Service, "namespace: "+l.Service+"-"+environment))
		}
	}
}
