//go:build cluster

package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// service sets the base's manifest to a spec. What the example's overlay adds
// to it goes.
func service(spec string) func(*layout) {
	return func(l *layout) {
		l.set(l.base(), "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: "+l.Service+"\nspec:\n"+spec)
		l.set("./patches/scale.yaml", "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: "+l.Service+"\n")
	}
}

const (
	plain = `
  template:
    spec:
      containers:
      - image: ghcr.io/acme/app:latest
`
	explicit = `
  template:
    metadata:
      annotations:
        autoscaling.knative.dev/min-scale: "1"
      labels:
        team: shop
    spec:
      containerConcurrency: 0
      timeoutSeconds: 300
      enableServiceLinks: false
      containers:
      - name: user-container
        image: ghcr.io/acme/app:latest
        ports:
        - name: http1
          containerPort: 8080
          protocol: TCP
        readinessProbe:
          successThreshold: 1
          httpGet:
            path: /healthz
            port: 8080
        resources: {}
        env:
        - name: MODE
          value: production
  traffic:
  - latestRevision: true
    percent: 100
`
	twoContainers = `
  template:
    spec:
      containers:
      - image: ghcr.io/acme/proxy:v5
        name: proxy
      - image: ghcr.io/acme/app:latest
        name: app
        ports:
        - containerPort: 8080
`
	tagged = plain + `
  traffic:
  - latestRevision: true
    percent: 100
  - latestRevision: true
    tag: newest
`
)

// TestServices promotes Services as people write them, twice: Knative refuses a
// traffic commit if anything of the template seems to change with it, and the
// second promotion starts from what the first has left.
func TestServices(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*layout){
		"plain": service(plain), "explicit": service(explicit), "two-containers": service(twoContainers),
		"traffic": service(plain + "  traffic:\n  - latestRevision: true\n    percent: 100\n"), "tagged-traffic": service(tagged),
		"name-prefix": func(l *layout) {
			l.set("./kustomization.yaml", "namePrefix: eu-\n"+string(l.Files[l.Overlay+"/kustomization.yaml"].Data))
			l.Service = "eu-" + l.Service
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, change)
			before := s.template()
			for _, tag := range []string{"v2.0.0", "v3.0.0"} {
				s.promote(tag, "steps=100").exits(0)
				s.settled(tag)
				if diff := cmp.Diff(before, s.template()); diff != "" {
					t.Errorf("the promotion changed the template of the Service (-before +after):\n%s", diff)
				}
			}
			if name == "tagged-traffic" && s.ask("newest-"+s.host()).tag() != "v3.0.0" {
				t.Errorf("the tag that was there is gone: %+v", s.live().Spec.Traffic)
			}
		})
	}
}

// template is the Service's template without what a promotion changes.
func (s *site) template() servingv1.RevisionTemplateSpec {
	template := s.live().Spec.Template
	template.Name = ""
	for i := range template.Spec.Containers {
		image := &template.Spec.Containers[i].Image
		*image, _, _ = strings.Cut(*image, ":")
	}
	return template
}

// TestFirstPromotion: a Service with generated names is taken over, and what it
// ran can be rolled back to, at once and later.
func TestFirstPromotion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	generated := s.live().Status.LatestReadyRevisionName
	if generated != s.Service+"-00001" {
		t.Fatalf("the Service begins with revision %s", generated)
	}
	s.promote("v2.0.0-broken", "steps=100").exits(8)
	s.settled("v1.0.0")
	if live := s.live(); live.Spec.Template.Name != generated || share(live.Spec.Traffic, generated) != 100 || len(live.Spec.Traffic) != 1 {
		t.Errorf("after the failed promotion: template %q, traffic %+v", live.Spec.Template.Name, live.Spec.Traffic)
	}
	s.promote("v2.0.0", "steps=100", "keep-previous=true").exits(0)
	s.settled("v2.0.0")
	if hits := s.hits("previous-"+s.host(), 10); hits["v1.0.0"] != 10 {
		t.Errorf("the revision before is answered by %v", hits)
	}
}

// TestFirstPromotionOfAnotherTemplate: a template changes in Git, and a first
// promotion that fails begins before that is live. The generated revision, which
// was never made of that template, gets the traffic back under its own name.
func TestFirstPromotionOfAnotherTemplate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	generated := s.live().Status.LatestReadyRevisionName
	file := baseOf(s.Service)
	s.push("Use less memory", map[string]string{file: replaced(t, s.read(file), "memory: 512Mi", "memory: 256Mi")})
	s.promote("v2.0.0-http500", "steps=100", "preflight=off").exits(8)
	s.settled("v1.0.0")
	if live := s.live(); live.Spec.Template.Name == generated || share(live.Spec.Traffic, generated) != 100 {
		t.Errorf("after the failed promotion: template %q, traffic %+v", live.Spec.Template.Name, live.Spec.Traffic)
	}
	s.promote("v2.0.0", "steps=100").exits(0)
	s.settled("v2.0.0")
}

// TestSecondContainer: both containers are promoted at once, and one that is
// bad rolls both back.
func TestSecondContainer(t *testing.T) {
	t.Parallel()
	s := newSite(t, service(twoContainers))
	s.promote("v2.0.0\nghcr.io/acme/proxy:v6", "steps=100").exits(0)
	s.settled("v2.0.0")
	good := s.git("rev-parse", "main")
	s.promote("v3.0.0\nghcr.io/acme/proxy:v7-exit3", "steps=100").exits(8)
	s.restored(good, "v2.0.0")
	if proxy := s.live().Spec.Template.Spec.Containers[0].Image; proxy != "ghcr.io/acme/proxy:v6" {
		t.Errorf("the second container runs %s", proxy)
	}
}

// TestTemplateChange: a change of the template, which Knative refuses under the
// old name, is promoted without an image. If that fails, the traffic goes to
// the old revision again, though its name cannot have the template any more.
func TestTemplateChange(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	before := s.live().Spec.Template.Name
	file := baseOf(s.Service)
	s.push("More CPU", map[string]string{file: replaced(t, s.read(file), "cpu: 250m", "cpu: 300m")})
	s.refresh()
	s.eventually("Knative has refused the change", func() bool {
		message, _, _ := unstructured.NestedString(s.application().Object, "status", "operationState", "message")
		return strings.Contains(message, "without a name change")
	})
	s.finds("template-changed")
	s.promote("v3.0.0-http500", "steps=100").exits(8)
	s.answersOnly("v2.0.0")
	s.eventually("the template's revision is Ready, which no traffic waits for", func() bool { return s.live().IsReady() })
	s.settled("v2.0.0")
	if a := s.ask(s.host()); a.Revision != before {
		t.Errorf("revision %s answers, want %s", a.Revision, before)
	}
	s.begin("promote", "image=unchanged", "steps=100").wait().exits(0)
	s.settled("v2.0.0")
	s.findsNot("template-changed")
	live := s.live()
	if cpu := live.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu(); cpu.String() != "300m" {
		t.Errorf("the Service asks for %s of CPU", cpu)
	}
	if a := s.ask(s.host()); a.Revision == before || a.Revision != live.Spec.Template.Name {
		t.Errorf("revision %s answers, of the template %s; traffic %+v", a.Revision, live.Spec.Template.Name, live.Spec.Traffic)
	}
}

// TestTrafficByHand: traffic that somebody has pinned to a generated revision
// is where a promotion starts from.
func TestTrafficByHand(t *testing.T) {
	t.Parallel()
	s := newSite(t, service(plain))
	file := baseOf(s.Service)
	s.push("Pin", map[string]string{file: s.read(file) + "  traffic:\n  - revisionName: " + s.Service + "-00001\n    percent: 100\n"})
	s.promote("v2.0.0", "steps=100").exits(0)
	s.settled("v2.0.0")
}
