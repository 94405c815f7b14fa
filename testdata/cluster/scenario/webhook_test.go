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
			s.limitMemory()
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

// limitMemory has a webhook give each container of the site's Services a memory limit from now on.
func (s *site) limitMemory() {
	s.Helper()
	webhook := httptest.NewTLSServer(http.HandlerFunc(limitsMemory))
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

// limitsMemory answers the API server with a limit for each container that has none.
func limitsMemory(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	var service unstructured.Unstructured
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || service.UnmarshalJSON(review.Request.Object.Raw) != nil {
		http.Error(w, "expected a Service", http.StatusBadRequest)
		return
	}
	var operations []map[string]any
	containers, _, _ := unstructured.NestedSlice(service.Object, "spec", "template", "spec", "containers")
	for i, container := range containers {
		resources, _, _ := unstructured.NestedMap(container.(map[string]any), "resources")
		if _, limited := resources["limits"]; limited {
			continue
		}
		if resources == nil {
			resources = map[string]any{}
		}
		resources["limits"] = map[string]any{"memory": "256Mi"}
		operations = append(operations, map[string]any{"op": "add", "path": fmt.Sprintf("/spec/template/spec/containers/%d/resources", i), "value": resources})
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if len(operations) > 0 {
		review.Response.PatchType = new(admissionv1.PatchTypeJSONPatch)
		review.Response.Patch, _ = json.Marshal(operations)
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}
