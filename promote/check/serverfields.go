package check

import (
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// serverFields are those of an object's metadata that the API server alone writes, and of which Argo CD compares what Git says.
var serverFields = []string{
	"deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid",
}

// findServerFields holds a Service that is promoted to more, as nothing of it is ever seen live with one, unless Argo CD is
// content with it.
func findServerFields(f Facts) []found {
	var all []found
	for _, o := range objects(f.result()) {
		promoted := isPromoted(f, o)
		if promoted && f.sync().status() == v1alpha1.SyncStatusCodeSynced {
			continue
		}
		if fields := fieldsOfServer(o, promoted); len(fields) > 0 {
			all = append(all, found{severity: errorIf(promoted), at: f.inObject(o, "metadata"), values: values{"Object": titleInFull(o), "Fields": fields, "Promoted": promoted}})
		}
	}
	return all
}

// fieldsOfServer are those that a manifest has, with the status of a Service.
func fieldsOfServer(o unstructured.Unstructured, withStatus bool) (fields []string) {
	metadata, _ := o.Object["metadata"].(map[string]any)
	for _, name := range serverFields {
		if metadata[name] != nil {
			fields = append(fields, "metadata."+name)
		}
	}
	if _, there := o.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; there {
		fields = append(fields, "metadata.annotations."+corev1.LastAppliedConfigAnnotation)
	}
	if status, _ := o.Object["status"].(map[string]any); withStatus && len(status) > 0 {
		fields = append(fields, "status")
	}
	return fields
}
