//go:build cluster

package scenario

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestFromStagingByDigest: production takes the image that staging has run, by the
// digest that Knative looked up there, whatever its tag says now. It pulls from a
// folder of the registry that is its own.
func TestFromStagingByDigest(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	r.push("v1.0.0", "the first", "staging", "production")
	tested := r.push("v2.0.0", "the tested one", "staging", "production")
	s := newSite(t, func(l *layout) {
		withStaging(l)
		for _, environment := range []string{"staging", "production"} {
			file := "apps/" + l.Service + "/overlays/" + environment + "/kustomization.yaml"
			l.set(file, replaceOnce(t, string(l.Files[file].Data), "- name: ghcr.io/acme/app\n", "- name: ghcr.io/acme/app\n    newName: "+r.name(environment)+"\n"))
		}
	})
	staging := s.staging()
	staging.promoteOf(r, "staging", "v2.0.0").exits(0)
	staging.settled("v2.0.0")
	staging.runsDigest(tested)

	other := r.push("v2.0.0", "pushed again", "staging", "production")
	s.begin("promote", "from="+staging.Overlay).wait().exits(0)
	s.settled(tested)
	s.runsDigest(tested)
	if file := s.read("./kustomization.yaml"); !strings.Contains(file, "newName: "+r.name("production")+"\n") || !strings.Contains(file, "digest: sha256:"+tested) {
		t.Errorf("production's kustomization.yaml, want its own name and the digest %s:\n%s", tested, file)
	}

	// The other image comes to staging as a promotion too, and from there on.
	staging.promoteOf(r, "staging", "v2.0.0@sha256:"+other).exits(0)
	staging.runsDigest(other)
	s.begin("promote", "from="+staging.Overlay).wait().exits(0)
	s.settled(other)
	s.runsDigest(other)
	s.begin("rollback").wait().exits(0)
	s.settled(tested)
}

// promoteOf promotes an image of the registry.
func (s *site) promoteOf(r *imageRegistry, folder, version string) *run {
	s.Helper()
	return s.begin("promote", "image=ghcr.io/acme/app="+r.name(folder)+":"+version).wait()
}

// runsDigest fails the scenario unless the pods of the newest revision that is ready
// have the image by this digest.
func (s *site) runsDigest(digest string) {
	s.Helper()
	name := s.live().Status.LatestReadyRevisionName + "-deployment"
	found, err := kube.Resource(deployments).Namespace(s.Namespace).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	deployment := &appsv1.Deployment{}
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, deployment))
	if image := deployment.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(image, "@sha256:"+digest) {
		s.Fatalf("pods of %s run %s, want the digest %s", name, image, digest)
	}
}

var deployments = appsv1.SchemeGroupVersion.WithResource("deployments")

// An imageRegistry is one that Knative asks for the digests of tags. Nobody pulls
// images from it.
type imageRegistry struct {
	*testing.T
	url string
}

func newRegistry(t *testing.T) *imageRegistry {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return &imageRegistry{t, server.URL}
}

// name is that of the image in a folder of the registry. Knative asks a loopback
// address without TLS.
func (r *imageRegistry) name(folder string) string {
	return strings.TrimPrefix(r.url, "http://") + "/" + folder + "/app"
}

// push gives a tag an image with this title in each of the folders, and returns its
// digest without the algorithm.
func (r *imageRegistry) push(tag, title string, folders ...string) string {
	r.Helper()
	const kind = "application/vnd.oci.image.manifest.v1+json"
	manifest := fmt.Sprintf(`{"schemaVersion": 2, "mediaType": %q, "annotations": {"org.opencontainers.image.title": %q}}`, kind, title)
	for _, folder := range folders {
		request, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), http.MethodPut, r.url+"/v2/"+folder+"/app/manifests/"+tag, strings.NewReader(manifest))
		if err != nil {
			r.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			r.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusCreated {
			r.Fatalf("pushing %s to %s: %s", tag, folder, response.Status)
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(manifest)))
}
