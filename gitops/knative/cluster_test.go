package knative_test

import (
	gocmp "cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"knative.dev/pkg/apis"
	"knative.dev/serving/pkg/apis/config"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	autoscaling "knative.dev/serving/pkg/autoscaler/config"
	"sigs.k8s.io/yaml"
)

// ownSettings are those of a cluster whose administrator chose other defaults.
func ownSettings() map[string]string {
	return map[string]string{
		"revision-cpu-request": "400m", "revision-memory-limit": "200Mi", "revision-timeout-seconds": "120",
		"container-name-template": "{{.Name}}", "init-container-name-template": "before-{{.Name}}",
		"container-concurrency": "50", "enable-service-links": "true", "secure-pod-defaults": "enabled",
	}
}

// cluster is one Service in a cluster: Knative's own webhook code behind the
// three-way merge of kubectl, with everything going through JSON in between.
type cluster struct {
	ctx     context.Context
	applied []byte
	live    *servingv1.Service

	revisions map[string]servingv1.RevisionSpec
	made      int
}

func newCluster(t testing.TB, settings map[string]string) *cluster {
	t.Helper()
	features, err := config.NewFeaturesConfigFromMap(settings)
	if err != nil {
		t.Fatal(err)
	}
	secure := features.SecurePodDefaults
	for _, field := range reflect.ValueOf(features).Elem().Fields() {
		field.Set(reflect.ValueOf(config.Enabled))
	}
	features.SecurePodDefaults = secure
	limits := map[string]string{"max-revision-timeout-seconds": "3600", "allow-zero-initial-scale": "true"}
	maps.Copy(limits, settings)
	defaults, err := config.NewDefaultsConfigFromMap(limits)
	if err != nil {
		t.Fatal(err)
	}
	scale, err := autoscaling.NewConfigFromMap(limits)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{ctx: config.ToContext(context.Background(), &config.Config{Features: features, Defaults: defaults, Autoscaler: scale})}
}

// apply is what Argo CD does with a commit's render.
func (c *cluster) apply(manifest []byte, name string) error {
	modified, err := serviceJSON(manifest, name)
	if err != nil {
		return err
	}
	merged := modified
	ctx := apis.WithinCreate(c.ctx)
	if c.live != nil {
		ctx = apis.WithinUpdate(c.ctx, c.live)
		current, err := json.Marshal(c.live)
		if err != nil {
			return err
		}
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(c.applied, modified, current)
		if err != nil {
			return err
		}
		if merged, err = jsonpatch.MergePatch(current, patch); err != nil {
			return err
		}
	}
	service, err := c.admit(ctx, merged)
	if err != nil {
		return err
	}
	c.live, c.applied = service, modified
	return c.revise()
}

// revise makes the template's revision, or takes the one of its name, which
// must be the same: https://github.com/knative/serving/blob/main/pkg/reconciler/configuration/configuration.go
func (c *cluster) revise() error {
	if c.revisions == nil {
		c.revisions = map[string]servingv1.RevisionSpec{}
	}
	c.made++
	name := c.live.Spec.Template.Name
	if name == "" {
		name = fmt.Sprintf("%s-%05d", c.live.Name, c.made)
	}
	spec := c.live.Spec.Template.Spec
	if old, ok := c.revisions[name]; ok && !equality.Semantic.DeepEqual(old, spec) {
		return fmt.Errorf("RevisionNameTaken: %s has another template: %s", name, cmp.Diff(old, spec))
	}
	c.revisions[name] = spec
	return nil
}

func (c *cluster) admit(ctx context.Context, request []byte) (*servingv1.Service, error) {
	var asked, stored servingv1.Service
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, err
	}
	for _, container := range asked.Spec.Template.Spec.Containers {
		for i := range container.Ports { // by the schema, whatever the webhooks do
			container.Ports[i].Protocol = gocmp.Or(container.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
	asked.SetDefaults(ctx)
	raw, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &stored); err != nil {
		return nil, err
	}
	if err := stored.Validate(ctx).Filter(apis.ErrorLevel); err != nil {
		return nil, fmt.Errorf("validation failed: %s", err)
	}
	return &stored, nil
}

// known is the live Service as Argo CD shows it, nil before the first apply.
func (c *cluster) known() *servingv1.Service {
	if c == nil {
		return nil
	}
	return c.live.DeepCopy()
}

func serviceJSON(manifest []byte, name string) ([]byte, error) {
	for _, doc := range strings.Split(string(manifest), "\n---\n") {
		var head struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			return nil, err
		}
		if head.APIVersion == "serving.knative.dev/v1" && head.Kind == "Service" && head.Metadata.Name == name {
			return yaml.YAMLToJSON([]byte(doc))
		}
	}
	return nil, fmt.Errorf("no Service %s in the render", name)
}
