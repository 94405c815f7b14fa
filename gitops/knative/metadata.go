package knative

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/acme/knative-promote/internal/oneline"
)

// refusedMetadata is why the API server refuses the metadata of a Service that Git has, as an update of one in the
// cluster: by their form, or as nobody but the API server writes them. Some of these it passes over.
// https://github.com/kubernetes/apiserver/blob/v0.31.0/pkg/registry/rest/update.go#L127-L146
func refusedMetadata(git metav1.ObjectMeta) error {
	live := metav1.ObjectMeta{Name: git.Name, Namespace: git.Namespace, UID: "of the cluster", ResourceVersion: "1"}
	updated := git
	updated.UID = cmp.Or(git.UID, live.UID)
	updated.ResourceVersion, updated.Generation, updated.CreationTimestamp, updated.ManagedFields = live.ResourceVersion, 0, live.CreationTimestamp, nil
	at := field.NewPath("metadata")
	wrong := validation.ValidateObjectMeta(&updated, updated.Namespace != "", validation.NameIsDNSSubdomain, at)
	wrong = append(wrong, validation.ValidateObjectMetaUpdate(&updated, &live, at)...)
	if git.ResourceVersion != "" {
		wrong = append(wrong, field.Forbidden(at.Child("resourceVersion"), "the API server changes it with each update, and refuses any other than the last"))
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("the API server refuses the Service %s: %s", git.Name, oneline.Of(wrong.ToAggregate().Error(), 400))
}
