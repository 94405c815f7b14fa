package knative_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"knative.dev/pkg/apis"
	"knative.dev/serving/pkg/apis/config"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	autoscaling "knative.dev/serving/pkg/autoscaler/config"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/knative"
)

// settings are clusters whose administrators chose different defaults.
var settings = map[string]map[string]string{
	"built-in": {},
	"sized": {
		"revision-cpu-request": "400m", "revision-memory-limit": "200Mi", "revision-timeout-seconds": "120",
		"container-name-template": "{{.Name}}", "container-concurrency": "50", "enable-service-links": "true",
	},
	"secure": {"secure-pod-defaults": "enabled"},
}

// cluster is one Service in a cluster: Knative's own webhook code behind the
// three-way merge of kubectl, with everything going through JSON in between.
type cluster struct {
	ctx     context.Context
	applied []byte
	live    *servingv1.Service
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
	defaults, err := config.NewDefaultsConfigFromMap(settings)
	if err != nil {
		t.Fatal(err)
	}
	scale, err := autoscaling.NewConfigFromMap(settings)
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
	return nil
}

func (c *cluster) admit(ctx context.Context, request []byte) (*servingv1.Service, error) {
	var asked, stored servingv1.Service
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, err
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

func service(t testing.TB, state *knative.State) *servingv1.Service {
	t.Helper()
	raw, err := serviceJSON(state.Manifest, state.Service())
	if err != nil {
		t.Fatal(err)
	}
	var s servingv1.Service
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}
