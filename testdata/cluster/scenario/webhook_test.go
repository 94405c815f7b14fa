//go:build cluster

package scenario

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// TestRollbackPastAWebhook has an admission webhook complete templates since the old revision was made.
// The same template in Git is another one then, and Knative has its name: it gets the next one, also
// by a rollback that is started again, and what follows begins there.
func TestRollbackPastAWebhook(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"at once": false, "started again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.promote("v2.0.0", "steps=100").exits(0)
			s.limitIdle()
			s.promote("v3.0.0", "steps=100").exits(0)
			if killed {
				s.begin("rollback", "unseen=true").wait().exits(10)
			}
			s.begin("rollback").wait().exits(0).says("committed once more, with another name for its template")
			s.answersOnly("v2.0.0")
			s.promote("v4.0.0-http500", "steps=50,100", "probe=/healthz").exits(8)
			s.answersOnly("v2.0.0")
			s.promote("v5.0.0", "steps=100").exits(0)
			s.settled("v5.0.0")
		})
	}
}

// limitIdle has a webhook give each template of the site's Services a timeout from now on.
func (s *site) limitIdle() {
	s.Helper()
	webhook := httptest.NewTLSServer(http.HandlerFunc(limitsIdle))
	s.Cleanup(webhook.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw}))
	name := "limit-" + s.App.GetName()
	configuration := &unstructured.Unstructured{}
	s.must(yaml.Unmarshal(fmt.Appendf(nil, `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: %s}, webhooks: [{
  name: limit.example.test, clientConfig: {url: "%s", caBundle: %s}, sideEffects: None, admissionReviewVersions: [v1],
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}},
  rules: [{apiGroups: [serving.knative.dev], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [services]}]}]}`,
		name, webhook.URL, ca, s.Service), configuration))
	s.must(kube.In(s.Service).Apply(s.Context(), manifestOf(s.T, configuration)))
	s.Cleanup(func() {
		kube.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"}).Delete(context.Background(), name, metav1.DeleteOptions{})
	})
}

// limitsIdle answers the API server with that timeout for a template that has none.
func limitsIdle(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	var service unstructured.Unstructured
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || service.UnmarshalJSON(review.Request.Object.Raw) != nil {
		http.Error(w, "expected a Service", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if _, limited, _ := unstructured.NestedFieldNoCopy(service.Object, "spec", "template", "spec", "idleTimeoutSeconds"); !limited {
		review.Response.PatchType = new(admissionv1.PatchTypeJSONPatch)
		review.Response.Patch = []byte(`[{"op": "add", "path": "/spec/template/spec/idleTimeoutSeconds", "value": 60}]`)
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}
