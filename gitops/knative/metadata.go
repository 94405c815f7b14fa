package knative

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/acme/knative-promote/internal/oneline"
)

// refusedMetadata is why the API server refuses the metadata of a Service that Git has, as an update of one in the
// cluster: by their form, or as nobody but the API server writes them.
func refusedMetadata(git metav1.ObjectMeta) error {
	live := metav1.ObjectMeta{Name: git.Name, Namespace: git.Namespace, UID: "of the cluster", ResourceVersion: "1", Generation: 1, CreationTimestamp: metav1.Unix(1, 0)}
	updated := git
	if updated.UID == "" {
		updated.UID = live.UID
	}
	if updated.CreationTimestamp.IsZero() {
		updated.CreationTimestamp = live.CreationTimestamp
	}
	updated.ResourceVersion, updated.Generation = live.ResourceVersion, live.Generation
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
