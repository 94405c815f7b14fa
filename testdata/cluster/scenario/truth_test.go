//go:build cluster

package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

const gitPassword = plane.GitPassword

var (
	applications = plane.Applications
	services     = plane.Services
	revisions    = schema.GroupVersionResource{Group: "serving.knative.dev", Version: "v1", Resource: "revisions"}
)

// live is the Service in Kubernetes.
func (s *site) live() *servingv1.Service {
	s.Helper()
	found, err := kube.Resource(services).Namespace(s.Namespace).Get(s.Context(), s.Service, metav1.GetOptions{})
	s.must(err)
	service := &servingv1.Service{}
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, service))
	return service
}

// application is the Application in Kubernetes.
func (s *site) application() *unstructured.Unstructured {
	s.Helper()
	found, err := kube.Resource(applications).Namespace(s.App.GetNamespace()).Get(s.Context(), s.App.GetName(), metav1.GetOptions{})
	s.must(err)
	return found
}

// syncedAndHealthy tells what Argo CD says of the Application.
func (s *site) syncedAndHealthy() (sync, health string) {
	app := s.application()
	sync, _, _ = unstructured.NestedString(app.Object, "status", "sync", "status")
	health, _, _ = unstructured.NestedString(app.Object, "status", "health", "status")
	return sync, health
}

// An answer is what the data path gave for one request.
type answer struct {
	Status          int
	Revision, Image string
	Score           int  // of an image that says one
	Waited          bool // for a pod, since there was none
}

// ask sends one request to a host of the data path.
func (s *site) ask(host string) answer {
	a, err := request(context.WithoutCancel(s.Context()), host)
	s.must(err)
	return a
}

// request sends one request to a host of the data path.
func request(ctx context.Context, host string) (answer, error) {
	return requestAt(ctx, world.Ingress(), host)
}

// requestAt sends one request to a host of a data path that is at host:port.
func requestAt(ctx context.Context, ingress, host string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ingress+"/", nil)
	if err != nil {
		return answer{}, err
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{}
	json.NewDecoder(response.Body).Decode(&a) // an answer of nobody's has no body of ours
	a.Status = response.StatusCode
	return a, nil
}

// tag is the tag of the image that answered, or the status where none did.
func (a answer) tag() string {
	if a.Image == "" {
		return http.StatusText(a.Status)
	}
	return a.Image[strings.LastIndex(a.Image, ":")+1:]
}

// host is the public host of the Service, candidateHost the candidate's.
func (s *site) host() string          { return cmp.Or(s.Host, s.Service+"."+s.Namespace+".example.test") }
func (s *site) candidateHost() string { return "candidate-" + s.host() }

// hits counts the answers of n requests by the revision's image tag, or by the
// status where nobody answered.
func (s *site) hits(host string, n int) map[string]int {
	count := map[string]int{}
	for range n {
		count[s.ask(host).tag()]++
	}
	return count
}

// answersOnly fails the scenario unless all answers come from one image tag.
func (s *site) answersOnly(tag string) {
	s.Helper()
	if hits := s.hits(s.host(), 40); hits[tag] != 40 {
		s.Fatalf("40 requests were answered by %v, want all by %s", hits, tag)
	}
}

// restored fails the scenario unless the overlay is what it was at the commit,
// but for the record, and that is live, answered by this tag alone, and Synced and Healthy.
func (s *site) restored(commit, tag string) {
	s.Helper()
	if now, before := s.tree("main"), s.tree(commit); now != before {
		s.Fatalf("the overlay is not what it was:\n%s", s.git("diff", commit, "main", "--", s.Overlay))
	}
	s.settled(tag)
}

// settled fails the scenario unless the Service is ready at its generation,
// answered by this tag alone, and the Application is Synced and Healthy.
func (s *site) settled(tag string) {
	s.Helper()
	service := s.live()
	if !service.IsReady() || service.Status.ObservedGeneration != service.Generation {
		s.Fatalf("the Service is not ready: %+v", service.Status.Conditions)
	}
	s.answersOnly(tag)
	s.eventually("the Application is Synced and Healthy", func() bool {
		sync, health := s.syncedAndHealthy()
		return sync == "Synced" && health == "Healthy"
	})
}

// checkPromises holds every scenario to what the project promises of the infra
// repository: a history that nobody forced or damaged, and the program's own
// commits in it.
func (s *site) checkPromises() {
	s.git("fsck", "--no-dangling")
	s.git("merge-base", "--is-ancestor", s.Seed, "main")
	var more []string
	if s.reviewed { // what was merged is in the branch by its merge
		more = []string{"--first-parent"}
	}
	commits, err := promotetest.Commits(s.Dir, "main", more...)
	s.must(err)
	history := promotetest.History{Service: s.Service, Overlay: s.Overlay, Commits: commits, Shared: true, Reviewed: s.reviewed}
	if _, err := history.Check(context.WithoutCancel(s.Context())); err != nil {
		s.Errorf("promises broken:\n%v", err)
	}
}

// isCandidateAt finds the candidate's target at a share of the traffic.
func isCandidateAt(percent int64) func(servingv1.TrafficTarget) bool {
	return func(t servingv1.TrafficTarget) bool {
		return t.Tag == "candidate" && t.Percent != nil && *t.Percent == percent
	}
}

// ours counts the commits of promotions since the scenario began.
func (s *site) ours() int {
	return strings.Count(s.log("--format=%(trailers:key=Promotion-Step)"), "Promotion-Step:")
}

// atTraffic is the traffic that a commit's overlay sets.
func (s *site) atTraffic(commit string) []servingv1.TrafficTarget {
	s.Helper()
	var service servingv1.Service
	s.must(yaml.Unmarshal([]byte(s.git("show", commit+":"+s.Overlay+"/knative-promote-"+s.Service+".yaml")), &service))
	return service.Spec.Traffic
}

// replaced is a text with one of its parts replaced, which must be there.
func replaced(t *testing.T, text, old, with string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("no %q in:\n%s", old, text)
	}
	return strings.Replace(text, old, with, 1)
}

// liveAt tells whether the candidate has this share of the traffic.
func (s *site) liveAt(percent int64) bool {
	return slices.ContainsFunc(s.live().Status.Traffic, isCandidateAt(percent))
}
