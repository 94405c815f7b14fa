package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8s "k8s.io/apimachinery/pkg/runtime/schema"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

// projectRules are about what the Application's project demands and permits,
// and about what a sync deletes.
func projectRules() []Rule {
	const projects = "https://argo-cd.readthedocs.io/en/stable/user-guide/projects/"
	return []Rule{
		{
			ID: "project-denies", Severity: event.SeverityError, Find: findDenied, Link: projects,
			Summary: "the project does not permit the source, the destination or Knative Services",
		},
		{
			ID: "prune-config", Severity: event.SeverityWarning, Find: findPrunedConfig,
			Summary: "a sync deletes the ConfigMap or Secret that the old revision reads",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#no-prune-resources",
		},
		{
			ID: "prune-off", Severity: event.SeverityInfo, Find: findUnpruned,
			Summary: "objects that are no longer in Git are left in the cluster",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/#automatic-pruning",
		},
	}
}

func findDenied(f Facts) []event.Finding {
	source, _ := f.source()
	project := f.Setup.Project
	if source == nil || project == nil {
		return nil
	}
	var found []event.Finding
	deny := func(what, evidence, fix string) {
		found = append(found, event.Finding{
			Problem:  fmt.Sprintf("Project %s does not permit %s", project.Name, what),
			Effect:   "Argo CD does not sync the Application.",
			Evidence: evidence, Fix: fix,
		})
	}
	if !project.IsSourcePermitted(*source) {
		var permitted []string
		for _, repository := range project.Spec.SourceRepos {
			permitted = append(permitted, repourl.Shown(repository))
		}
		denied := repourl.Shown(source.RepoURL)
		deny("the repository "+denied, "spec.sourceRepos: "+strings.Join(permitted, ", "), fmt.Sprintf("argocd proj add-source %s %s", project.Name, denied))
	}
	destination := f.Setup.App.Spec.Destination
	if !f.destinationPermitted() {
		deny(fmt.Sprintf("the namespace %s of %s%s", f.namespace(), destination.Server, destination.Name), fmt.Sprintf("spec.destinations: %v", project.Spec.Destinations),
			fmt.Sprintf("argocd proj add-destination %s %s %s", project.Name, destination.Server, f.namespace()))
	}
	if !project.IsGroupKindPermitted(k8s.GroupKind{Group: servingGroup, Kind: "Service"}, true) {
		deny("the kind "+servingGroup+"/Service", fmt.Sprintf("spec.namespaceResourceWhitelist: %v\nspec.namespaceResourceBlacklist: %v",
			project.Spec.NamespaceResourceWhitelist, project.Spec.NamespaceResourceBlacklist),
			fmt.Sprintf("argocd proj allow-namespace-resource %s %s Service", project.Name, servingGroup))
	}
	return found
}

// destinationPermitted leaves out what only Argo CD can tell: a cluster that
// one side names and the other gives the address of.
func (f Facts) destinationPermitted() bool {
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

// findPrunedConfig looks for generated objects that a revision reads. Each
// content has its own name, so the old revision needs the old object as long
// as it has traffic, and a sync prunes what is no longer in Git.
func findPrunedConfig(f Facts) []event.Finding {
	if f.Setup.App == nil || !f.Request.Shifts || !f.automated() || !f.Setup.App.Spec.SyncPolicy.Automated.Prune {
		return nil
	}
	used := references(rendered(f.Next))
	var found []event.Finding
	for _, o := range objects(f.Next) {
		name := o.GetKind() + " " + o.GetName()
		if !slices.Contains(used, name) || !manifest.Hashed(o.GetName()) || o.GetAPIVersion() != "v1" || kept(o) {
			continue
		}
		generator := map[string]string{"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}[o.GetKind()]
		at := f.inKustomization(generator)
		found = append(found, event.Finding{
			Problem: fmt.Sprintf("%s is generated, and Argo CD deletes the one before it while the old revision still uses it", name),
			Effect: "When a commit changes its content, the sync that brings the new object prunes the old one. From then on no new pod of the old revision starts, " +
				"at whatever share of the traffic, until the promotion has moved on or was rolled back.",
			Evidence: fmt.Sprintf("the template of Service %s reads it, spec.syncPolicy.automated.prune is on", f.Request.Service),
			Fix: "Keep generated objects, in the kustomization:\ngeneratorOptions:\n  annotations:\n    " + syncOptions + ": Prune=false\n" +
				"Old ones then stay, and the Application is OutOfSync because of them, unless they also get:\n    " + compareOptions + ": IgnoreExtraneous",
			File: at.File, Line: at.Line,
		})
	}
	return found
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

func findUnpruned(f Facts) []event.Finding {
	if f.Setup.App == nil || f.automated() && f.Setup.App.Spec.SyncPolicy.Automated.Prune {
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
	return []event.Finding{{
		Problem:  fmt.Sprintf("Application %s has objects that are no longer in Git: %s", f.application(), strings.Join(names, ", ")),
		Effect:   "None for promotions, which do not mind them. The Application is OutOfSync because of them, whatever is promoted.",
		Evidence: "status.resources with requiresPruning, and spec.syncPolicy.automated.prune is off",
		Fix:      "Look at them, and if nothing needs them:\nargocd app sync " + f.application() + " --prune",
	}}
}
