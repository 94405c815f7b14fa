package argo

import (
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/health"
	"knative.dev/pkg/apis"
)

// announced tells whether what a wait is for comes with an event of the Application, so
// that nothing is missed by looking seldom. Most of it stands in the Application's
// status. Of the live objects only the Service's health does: Knative may observe a
// generation, name a revision or move the traffic, and Argo CD has nothing to store. So
// there a wait has to look.
func announced(in Intent, ob Observed, v Verdict) bool {
	switch {
	case ob.App == nil || v.State != Wait || v.Trouble != "":
		return false
	case ob.Relation == Displaced, ob.Relation == Unknown && compared(in, ob) != "":
		return false // it takes another refresh, or Git
	case !ob.Relation.ours():
		return true
	case reconciledEarly(ob.App):
		return false
	case ob.Relation == Same && judgeApplication(in, ob) != nil:
		return true
	}
	return judgeLive(in, ob) == nil || healthTells(in, ob)
}

// healthTells tells whether the Service only has to become ready, and Argo CD sees that.
// Argo CD reacts to every change of a resource's health, whatever it is told to ignore
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/cache/cache.go#L368-L375).
func healthTells(in Intent, ob Observed) bool {
	if in.TrafficOnly || first(in, ob, judgeThere, judgeTemplate, judgeSpec) != nil {
		return false
	}
	ours := serviceStatus(in, ob.App)
	return ob.Service.Status.GetCondition(apis.ConditionReady).IsUnknown() &&
		ours != nil && progressing(ours.Health) && !hidden(ob.App, ours)
}

func progressing(h *v1alpha1.HealthStatus) bool {
	return h != nil && h.Status == health.HealthStatusProgressing
}

// hidden tells whether the health of a resource can change and the stored Application does
// not: where Argo CD stores only the worst of all, as Argo CD 3 does, and others are as bad
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/health.go#L64-L90).
func hidden(app *v1alpha1.Application, ours *v1alpha1.ResourceStatus) bool {
	if app.Status.ResourceHealthSource != v1alpha1.ResourceHealthLocationAppTree {
		return false
	}
	for i, r := range app.Status.Resources {
		if &app.Status.Resources[i] != ours && progressing(r.Health) {
			return true
		}
	}
	return app.Status.Health.Status != health.HealthStatusProgressing
}

// standsStill tells whether an Application is as it was, with the Service's health, which
// the API server may add to what is stored.
func standsStill(in Intent, before, now *v1alpha1.Application) bool {
	if before.ResourceVersion == "" || before.ResourceVersion != now.ResourceVersion {
		return false
	}
	a, b := serviceStatus(in, before), serviceStatus(in, now)
	return a == nil && b == nil || a != nil && b != nil && sameHealth(a.Health, b.Health)
}

func sameHealth(a, b *v1alpha1.HealthStatus) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Status == b.Status && a.Message == b.Message
}
