package cluster

import (
	"context"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrs "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/serving/pkg/apis/serving"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"knative.dev/serving/pkg/reconciler/configuration/resources"
)

// reconcileConfiguration follows knative.dev/serving/pkg/reconciler/configuration.ReconcileKind.
func (r *reconciler) reconcileConfiguration(ctx context.Context, configuration *servingv1.Configuration) {
	before := configuration.DeepCopy()
	configuration.SetDefaults(ctx)
	begin(configuration)
	r.configuration(ctx, configuration)
	r.end(configuration, before)
	if live := r.write.configurations[keyOf(configuration)]; live == nil || live.ResourceVersion != before.ResourceVersion {
		return // the Service's controller wrote in this step
	}
	configuration.Spec = before.Spec
	store(r, r.write.configurations, configuration, before, false)
}

func (r *reconciler) configuration(ctx context.Context, configuration *servingv1.Configuration) {
	status := &configuration.Status
	latest, taken := r.latestCreated(configuration)
	if taken {
		err := apierrs.NewAlreadyExists(servingv1.Resource("revisions"), configuration.Spec.Template.Name)
		status.MarkRevisionCreationFailed(err.Error())
		return
	}
	if latest == nil {
		latest = resources.MakeRevision(ctx, configuration.DeepCopy(), r.now)
		if existing := r.write.revisions[keyOf(latest)]; existing != nil {
			latest = existing // created in an earlier step and not yet seen
		} else {
			latest.SetDefaults(ctx)
			create(r, r.write.revisions, latest)
		}
	}
	status.SetLatestCreatedRevisionName(latest.Name)
	if ready := latest.Status.GetCondition(servingv1.RevisionConditionReady); ready.IsFalse() {
		status.MarkLatestCreatedFailed(latest.Name, ready.GetMessage())
	}
	r.latestReady(configuration, latest)
}

// latestCreated finds the revision of the Configuration's generation, or reports that its name is
// taken by another one.
func (r *reconciler) latestCreated(configuration *servingv1.Configuration) (rev *servingv1.Revision, taken bool) {
	if rev, taken := r.namedRevision(configuration); rev != nil || taken {
		return rev, taken
	}
	if configuration.Spec.Template.Name != "" {
		return nil, false
	}
	for _, rev := range r.owned(configuration) {
		if generation(rev) == configuration.Generation {
			return rev, false
		}
	}
	return nil, false
}

// namedRevision is Knative's CheckNameAvailability: the revision that the template names, if it is
// this generation's or has the very same spec.
func (r *reconciler) namedRevision(configuration *servingv1.Configuration) (rev *servingv1.Revision, taken bool) {
	name := configuration.Spec.Template.Name
	if name == "" {
		return nil, false
	}
	rev = r.seen.revisions[key{configuration.Namespace, name}]
	switch {
	case rev == nil:
		return nil, false
	case !metav1.IsControlledBy(rev, configuration):
		return nil, true
	case generation(rev) == configuration.Generation:
		return rev, false
	case !equality.Semantic.DeepEqual(configuration.Spec.Template.Spec, rev.Spec):
		return nil, true
	}
	return rev, false
}

// latestReady sets the name of the newest ready revision, the named one first.
func (r *reconciler) latestReady(configuration *servingv1.Configuration, latest *servingv1.Revision) {
	start := int64(0)
	if ready := r.seen.revisions[key{configuration.Namespace, configuration.Status.LatestReadyRevisionName}]; ready != nil {
		start = generation(ready)
	}
	named := configuration.Spec.Template.Name
	candidates := slices.DeleteFunc(r.owned(configuration), func(rev *servingv1.Revision) bool {
		inRange := generation(rev) >= start && generation(rev) <= configuration.Generation
		return !inRange && (named == "" || rev.Name != latest.Name)
	})
	slices.SortFunc(candidates, func(a, b *servingv1.Revision) int {
		switch {
		case a.Name == named:
			return -1
		case b.Name == named:
			return 1
		}
		return int(generation(b) - generation(a))
	})
	for _, rev := range candidates {
		if rev.IsReady() {
			configuration.Status.SetLatestReadyRevisionName(rev.Name)
			return
		}
	}
}

func (r *reconciler) owned(configuration *servingv1.Configuration) []*servingv1.Revision {
	var owned []*servingv1.Revision
	for k, rev := range r.seen.revisions {
		if k.namespace == configuration.Namespace && rev.Labels[serving.ConfigurationLabelKey] == configuration.Name {
			owned = append(owned, rev)
		}
	}
	return owned
}

func generation(rev *servingv1.Revision) int64 {
	n, err := strconv.ParseInt(rev.Labels[serving.ConfigurationGenerationLabelKey], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
