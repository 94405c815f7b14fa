//go:build cluster

package scenario

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRollbackPastAnOverride has somebody set another image on Argo CD's page, as an emergency way,
// while a promotion bakes and after one. The template that a rollback makes of the old revision is
// another one then, under a name that Knative has: it gets the next name, and the traffic
// stays where it is when the override goes.
func TestRollbackPastAnOverride(t *testing.T) {
	t.Parallel()
	for name, override := range map[string]string{"rollback": "v3.0.1", "of what runs": "v3.0.0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.promote("v2.0.0", "steps=100").exits(0)
			s.promote("v3.0.0", "steps=100").exits(0)
			s.override(override)
			s.begin("rollback").wait().exits(0).says("committed once more, with another name for its template")
			s.answersOnly("v2.0.0")
			s.paste(s.finds("image-overridden").Fix)
			s.begin("rollback").wait().exits(0)
			s.answersOnly("v2.0.0")
			s.promote("v4.0.0", "steps=100").exits(0)
			s.settled("v4.0.0")
		})
	}
	t.Run("restore", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.promote("v2.0.0", "steps=100").exits(0)
		r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=50@40s,100")
		r.until("baking 50 %")
		s.override("v2.0.0")
		r.wait().exits(8)
		s.answersOnly("v2.0.0")
		s.paste(s.finds("image-overridden").Fix)
		s.begin("rollback").wait().exits(0)
		s.answersOnly("v2.0.0")
	})
}

// override sets an image on the Application, which replaces what Git says.
func (s *site) override(tag string) {
	s.Helper()
	s.patchApplication(fmt.Sprintf(`[{"op": "add", "path": "/spec/source/kustomize", "value": {"images": ["%s:%s"]}}]`, s.Image, tag))
	s.eventually("Argo CD has compared with the override", func() bool {
		images, _, err := unstructured.NestedStringSlice(s.application().Object, "status", "sync", "comparedTo", "source", "kustomize", "images")
		return err == nil && len(images) > 0
	})
}
