package check

import (
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8s "k8s.io/apimachinery/pkg/runtime/schema"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote/manifest"
)

// projectRules are about what the Application's project demands and permits,
// and about what a sync deletes.
func projectRules() []Rule {
	return []Rule{rule(ruleProjectDenies, findDenied), rule("prune-config", findPrunedConfig), rule("config-removed", findRemovedConfig), rule("prune-off", findUnpruned)}
}

func findDenied(f Facts) []found {
	source, _ := f.source()
	project := f.Setup.Project
	var all []found
	if !project.IsSourcePermitted(*source) {
		var permitted []string
		for _, repository := range project.Spec.SourceRepos {
			permitted = append(permitted, repourl.Shown(repository))
		}
		all = append(all, found{values: values{"Kind": "repository", "Repository": repourl.Shown(source.RepoURL), "Permitted": permitted}})
	}
	if !destinationPermitted(f) {
		all = append(all, found{values: values{"Kind": "destination", "Destination": f.Setup.App.Spec.Destination, "Permitted": project.Spec.Destinations}})
	}
	if !project.IsGroupKindPermitted(k8s.GroupKind{Group: servingGroup, Kind: "Service"}, true) {
		all = append(all, found{values: values{"Kind": "kind", "Spec": project.Spec}})
	}
	return all
}

// destinationPermitted leaves out what only Argo CD can tell: a cluster that
// one side names and the other gives the address of.
func destinationPermitted(f Facts) bool {
	to := f.Setup.App.Spec.Destination
	permitted := false
	for _, d := range f.Setup.Project.Spec.Destinations {
		namespace, negated := strings.CutPrefix(d.Namespace, "!")
		server, negatedServer := strings.CutPrefix(d.Server, "!")
		cluster := to.Server == "" || d.Server == "" || glob.Match(server, to.Server)
		name := to.Name == "" || d.Name == "" || glob.Match(d.Name, to.Name)
		switch {
		case !cluster || !name || !glob.Match(namespace, f.namespace()):
		case negated || negatedServer:
			return false
		default:
			permitted = true
		}
	}
	return permitted
}

// findPrunedConfig looks for generated objects that a revision reads.
func findPrunedConfig(f Facts) []found {
	if !f.Request.Shifts || !f.Setup.App.Spec.SyncPolicy.Automated.Prune {
		return nil
	}
	used := references(rendered(f.Next))
	var all []found
	for _, o := range objects(f.Next) {
		name := o.GetKind() + " " + o.GetName()
		if !slices.Contains(used, name) || !manifest.Hashed(o.GetName()) || o.GetAPIVersion() != "v1" || kept(o) {
			continue
		}
		generator := map[string]string{"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}[o.GetKind()]
		all = append(all, found{at: f.inKustomization(generator), values: values{"Object": name}})
	}
	return all
}

// findRemovedConfig is about a proposed change, which a sync prunes by.
func findRemovedConfig(f Facts) []found {
	if f.Before == nil {
		return nil
	}
	keeps := map[string]bool{}
	for _, o := range objects(f.Before) {
		keeps[o.GetKind()+" "+o.GetName()] = kept(o)
	}
	var all []found
	for _, ref := range knative.Removed(f.Before, f.Overlay) {
		if !keeps[ref.String()] {
			all = append(all, found{at: f.inKustomization(), values: values{"Object": ref.String(), "Generated": manifest.Hashed(ref.Name)}})
		}
	}
	return all
}

func kept(o unstructured.Unstructured) bool {
	return annotated(&o, syncOptions, "Prune=false")
}

// references are the ConfigMaps and Secrets that a Service's template reads, as
// kind and name.
func references(service *servingv1.Service) []string {
	if service == nil {
		return nil
	}
	var names []string
	for _, ref := range knative.References(service.Spec.Template.Spec.PodSpec) {
		names = append(names, ref.String())
	}
	return names
}

func findUnpruned(f Facts) []found {
	if argo.Automated(f.Setup.App) && f.Setup.App.Spec.SyncPolicy.Automated.Prune {
		return nil
	}
	var names []string
	for _, r := range f.Setup.App.Status.Resources {
		if r.RequiresPruning && r.Status != v1alpha1.SyncStatusCodeSynced {
			names = append(names, r.Kind+" "+r.Name)
		}
	}
	if names == nil {
		return nil
	}
	return []found{{values: values{"Names": names}}}
}
