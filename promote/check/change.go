package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// patchApplication is how to apply a JSON patch to the Application.
func patchApplication(app *v1alpha1.Application, patch string) string {
	return changeApplication(app, patch, fmt.Sprintf("patch application %s --type json -p '%s'", app.Name, patch))
}

// mergeApplication is how to apply a JSON merge patch to it.
func mergeApplication(app *v1alpha1.Application, patch string) string {
	return changeApplication(app, patch, fmt.Sprintf("patch application %s --type merge -p '%s'", app.Name, patch))
}

// annotateApplication is how to give it an annotation; without a value, how to take
// that away.
func annotateApplication(app *v1alpha1.Application, key, value string) string {
	if value == "" {
		return changeApplication(app, "metadata.annotations without "+key, fmt.Sprintf("annotate application %s %s-", app.Name, key))
	}
	text, _ := json.Marshal(map[string]string{key: value}) // texts alone
	return changeApplication(app, "metadata.annotations: "+string(text), fmt.Sprintf("annotate --overwrite application %s '%s=%s'", app.Name, key, value))
}

// editApplication is how to change it by hand.
func editApplication(app *v1alpha1.Application, what string) string {
	return changeApplication(app, what, "edit application "+app.Name)
}

// changeApplication is a command of kubectl that changes the Application. Where it is
// made from something else that would undo that, it says where to change it.
func changeApplication(app *v1alpha1.Application, what, command string) string {
	command = "kubectl -n " + cmp.Or(app.Namespace, "argocd") + " " + command
	kind, name := maker(app)
	switch kind {
	case v1alpha1.ApplicationSetSchemaGroupVersionKind.Kind:
		return fmt.Sprintf("ApplicationSet %s makes the Application and undoes what is changed in that alone. In spec.template of the ApplicationSet it is:\n%s", name, what)
	case v1alpha1.ApplicationSchemaGroupVersionKind.Kind:
		return fmt.Sprintf("By its label or its tracking-id Application %s deploys this one from Git, and its next sync undoes what is changed here alone. Change it there; until then:\n%s", name, command)
	}
	return command
}

// maker is what the Application is made from: an ApplicationSet, or another
// Application that deploys it. Empty: nothing is known to.
// https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
func maker(app *v1alpha1.Application) (kind, name string) {
	for _, owner := range app.OwnerReferences {
		if owner.Kind == v1alpha1.ApplicationSetSchemaGroupVersionKind.Kind {
			return owner.Kind, owner.Name
		}
	}
	parent, _, _ := strings.Cut(app.Annotations[trackingID], ":")
	if parent == "" {
		parent = app.Labels["app.kubernetes.io/instance"]
	}
	if parent == "" || parent == app.Name {
		return "", ""
	}
	return v1alpha1.ApplicationSchemaGroupVersionKind.Kind, parent
}

// compareOnServer is how to switch server-side diff on, beside other options; empty
// where Knative would refuse the dry run that it compares by.
func compareOnServer(f Facts) string {
	if !mayCompareOnServer(f) {
		return ""
	}
	all := slices.DeleteFunc(options(f.Setup.App.Annotations[compareOptions]), func(option string) bool {
		return option == "" || strings.HasPrefix(option, "ServerSideDiff=")
	})
	return annotateApplication(f.Setup.App, compareOptions, strings.Join(append(all, "ServerSideDiff=true"), ","))
}
