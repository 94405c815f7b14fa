package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// patchApplication is how to apply a JSON patch to the Application.
func (f Facts) patchApplication(patch string) string {
	return f.changeApplication(patch, fmt.Sprintf("patch application %s --type json -p '%s'", f.application(), patch))
}

// mergeApplication is how to apply a JSON merge patch to it.
func (f Facts) mergeApplication(patch string) string {
	return f.changeApplication(patch, fmt.Sprintf("patch application %s --type merge -p '%s'", f.application(), patch))
}

// annotateApplication is how to give it an annotation; without a value, how to take
// that away.
func (f Facts) annotateApplication(key, value string) string {
	if value == "" {
		return f.changeApplication("metadata.annotations without "+key, fmt.Sprintf("annotate application %s %s-", f.application(), key))
	}
	text, _ := json.Marshal(map[string]string{key: value}) // texts alone
	return f.changeApplication("metadata.annotations: "+string(text), fmt.Sprintf("annotate --overwrite application %s '%s=%s'", f.application(), key, value))
}

// editApplication is how to change it by hand.
func (f Facts) editApplication(what string) string {
	return f.changeApplication(what, "edit application "+f.application())
}

// changeApplication is a command of kubectl that changes the Application. Where it is
// made from something else that would undo that, it says where to change it.
func (f Facts) changeApplication(what, command string) string {
	command = "kubectl -n " + f.appNamespace() + " " + command
	kind, name := f.maker()
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
func (f Facts) maker() (kind, name string) {
	app := f.Setup.App
	if app == nil {
		return "", ""
	}
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
func (f Facts) compareOnServer() string {
	if !f.mayCompareOnServer() {
		return ""
	}
	all := slices.DeleteFunc(options(f.Setup.App.Annotations[compareOptions]), func(option string) bool {
		return option == "" || strings.HasPrefix(option, "ServerSideDiff=")
	})
	return f.annotateApplication(compareOptions, strings.Join(append(all, "ServerSideDiff=true"), ","))
}
