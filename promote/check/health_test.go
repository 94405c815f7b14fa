package check

import (
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/util/lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestHealthChecks runs the health checks that fixes offer as Argo CD does,
// beside the one that is built in.
func TestHealthChecks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ status, service, child, builtIn string }{
		"new":              {"", "Progressing", "Progressing", "Progressing"},
		"of before":        {"{observedGeneration: 1, conditions: [{type: ConfigurationsReady, status: 'True'}, {type: Ready, status: 'True'}, {type: RoutesReady, status: 'True'}]}", "Progressing", "Progressing", "Healthy"},
		"ready":            {"{observedGeneration: 2, conditions: [{type: ConfigurationsReady, status: 'True'}, {type: Ready, status: 'True'}, {type: RoutesReady, status: 'True'}]}", "Healthy", "Healthy", "Healthy"},
		"becoming ready":   {"{observedGeneration: 2, conditions: [{type: Ready, status: Unknown, reason: OutOfDate}]}", "Progressing", "Progressing", "Progressing"},
		"broken":           {"{observedGeneration: 2, conditions: [{type: Ready, status: 'False', reason: RevisionFailed, message: it exits}]}", "Degraded", "Degraded", "Degraded"},
		"route is behind":  {"{observedGeneration: 2, conditions: [{type: Ready, status: 'False', reason: RevisionMissing}]}", "Progressing", "Degraded", "Degraded"},
		"no conditions":    {"{observedGeneration: 2}", "Progressing", "Progressing", "Progressing"},
		"other conditions": {"{observedGeneration: 2, conditions: [{type: Active, status: 'False'}]}", "Progressing", "Progressing", "Degraded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantHealth(t, "Service", serviceHealth, test.status, test.service)
			wantHealth(t, "Revision", strings.ReplaceAll(childHealth, "KIND", "Revision"), test.status, test.child)
			wantHealth(t, "Service", "", test.status, test.builtIn)
		})
	}
}

// wantHealth takes the script from a piece of argocd-cm, or the one that is
// built in.
func wantHealth(t *testing.T, kind, configMap, status, want string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	source := "{apiVersion: serving.knative.dev/v1, kind: " + kind + ", metadata: {name: web, generation: 2}"
	if status != "" {
		source += ", status: " + status
	}
	if err := yaml.Unmarshal([]byte(source+"}"), &object.Object); err != nil {
		t.Fatal(err)
	}
	vm := lua.VM{UseOpenLibs: configMap == ""}
	var data struct{ Data map[string]string }
	if err := yaml.UnmarshalStrict([]byte("data:\n"+configMap), &data); err != nil {
		t.Fatal(err)
	}
	script := data.Data["resource.customizations.health.serving.knative.dev_"+kind]
	if configMap == "" {
		var err error
		if script, _, err = vm.GetHealthScript(object); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := vm.ExecuteHealthLua(object, script); err != nil || string(got.Status) != want {
		t.Errorf("got %v, %v, want %s, by\n%s", got, err, want, script)
	}
}
