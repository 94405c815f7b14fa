package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/serving/pkg/apis/serving"

	"github.com/acme/knative-promote/internal/jsonpointer"
)

const servingGroup = serving.GroupName

// An ignoring is one difference of the Knative Service that Argo CD is told to
// ignore.
type ignoring struct {
	where  string // for people
	text   string // as it is written there
	remove string // the command that takes it away
	path   []string
	// An unclear one is an expression that only jq itself can tell the path of.
	unclear bool
	// A manager's fields are ignored as long as it owns them.
	manager string
}

// covers tells whether the ignored field is at, above or below a path.
func (i ignoring) covers(path ...string) bool {
	if i.path == nil {
		return false
	}
	n := min(len(i.path), len(path))
	for k := range n {
		if i.path[k] != path[k] && i.path[k] != "*" && path[k] != "*" {
			return false
		}
	}
	return true
}

// ignored are the differences of the Service that the Application and
// argocd-cm tell Argo CD to ignore.
func ignored(f Facts) []ignoring {
	var all []ignoring
	if f.Setup.App == nil {
		return nil
	}
	for _, i := range ignoringEntries(f) {
		entry := f.Setup.App.Spec.IgnoreDifferences[i]
		where := fmt.Sprintf("spec.ignoreDifferences[%d] of application %s", i, f.application())
		remove := func(list string, item int, text string) string {
			return patchApplication(f.Setup.App, removal(entry, fmt.Sprintf("/spec/ignoreDifferences/%d", i), list, item, text))
		}
		all = append(all, ignorings(where, remove, entry.JSONPointers, entry.JQPathExpressions, entry.ManagedFieldsManagers)...)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Setup.Overrides)) {
		group, kind, found := strings.Cut(key, "/")
		if !found || !isService(group, kind) {
			continue
		}
		ignore := f.Setup.Overrides[key].IgnoreDifferences
		at := "resource.customizations.ignoreDifferences." + customization(key)
		remove := func(string, int, string) string {
			return "kubectl -n " + f.argocd() + " edit configmap argocd-cm   # " + at
		}
		all = append(all, ignorings(at+" in argocd-cm", remove, ignore.JSONPointers, ignore.JQPathExpressions, ignore.ManagedFieldsManagers)...)
	}
	return all
}

// customization is a group/Kind as the keys of argocd-cm spell it.
func customization(key string) string {
	if key == "*/*" {
		return "all"
	}
	return strings.Replace(key, "/", "_", 1)
}

// isService matches as Argo CD does
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/argo/normalizers/diff_normalizer.go#L163-L170).
func isService(group, kind string) bool {
	return glob.Match(group, servingGroup) && glob.Match(kind, "Service")
}

// removal is the JSON patch that takes one item of an entry away, or the entry where
// it has no other. It fails where the item is not there any more.
func removal(entry v1alpha1.ResourceIgnoreDifferences, at, list string, item int, text string) string {
	if len(entry.JSONPointers)+len(entry.JQPathExpressions)+len(entry.ManagedFieldsManagers) == 1 {
		return fmt.Sprintf(`[{"op": "remove", "path": %q}]`, at)
	}
	at = fmt.Sprintf("%s/%s/%d", at, list, item)
	value, err := json.Marshal(text)
	if err != nil || strings.Contains(text, "'") { // which ends the patch in a shell
		return fmt.Sprintf(`[{"op": "remove", "path": %q}]`, at)
	}
	return fmt.Sprintf(`[{"op": "test", "path": %q, "value": %s}, {"op": "remove", "path": %q}]`, at, value, at)
}

func ignorings(where string, remove func(list string, item int, text string) string, pointers, expressions, managers []string) []ignoring {
	var all []ignoring
	for i, pointer := range pointers {
		all = append(all, ignoring{where: where, text: pointer, remove: remove("jsonPointers", i, pointer), path: jsonpointer.Split(pointer)})
	}
	for i, expression := range expressions {
		path, ok := jqPath(expression)
		all = append(all, ignoring{where: where, text: expression, remove: remove("jqPathExpressions", i, expression), path: path, unclear: !ok})
	}
	for i, manager := range managers {
		all = append(all, ignoring{where: where, text: "fields of manager " + manager, remove: remove("managedFieldsManagers", i, manager), manager: manager})
	}
	return all
}

var jqSegment = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\.?\["([^"\\]*)"\]|\."([^"\\]*)"|\.?\[(\d*)\])\??`)

// jqPath is the path of a jq expression that is nothing but one, such as
// .spec.template.spec.containers[].image; ok is false for any other.
func jqPath(expression string) (path []string, ok bool) {
	rest := strings.TrimSpace(expression)
	for rest != "" {
		m := jqSegment.FindStringSubmatch(rest)
		if m == nil {
			return nil, false
		}
		switch name := m[1] + m[2] + m[3]; {
		case name != "":
			path = append(path, name)
		case m[4] != "":
			path = append(path, m[4])
		default:
			path = append(path, "*")
		}
		rest = rest[len(m[0]):]
	}
	return path, path != nil
}

// owns tells whether a field manager owns a field of the live object, or
// something below it.
func owns(fields []metav1.ManagedFieldsEntry, manager string, path ...string) bool {
	for _, entry := range fields {
		if entry.Manager == manager && ownedBy(entry, path...) {
			return true
		}
	}
	return false
}

// ownedBy looks a path up in an entry of managedFields
// (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
func ownedBy(entry metav1.ManagedFieldsEntry, path ...string) bool {
	var at any
	if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.Raw, &at) != nil {
		return false
	}
	for _, name := range path {
		fields, _ := at.(map[string]any)
		if name != "." {
			name = "f:" + name
		}
		var found bool
		if at, found = fields[name]; !found {
			return false
		}
	}
	return true
}

// respects tells whether a sync leaves ignored fields as they are in the
// cluster.
func respects(app *v1alpha1.Application) bool { return hasOption(app, "RespectIgnoreDifferences=true") }

func hasOption(app *v1alpha1.Application, option string) bool {
	return app.Spec.SyncPolicy != nil && app.Spec.SyncPolicy.SyncOptions.HasOption(option)
}
