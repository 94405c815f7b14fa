package knative

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"knative.dev/pkg/apis"
	"knative.dev/serving/pkg/apis/config"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	autoscaling "knative.dev/serving/pkg/autoscaler/config"

	"github.com/acme/knative-promote/internal/oneline"
)

// checkCreate runs Knative's own defaulting and validation on the Service as
// if it were new.
func checkCreate(_, after *State, _ Expected) error {
	ctx, err := tolerant(context.Background())
	if err != nil {
		return err
	}
	service, err := typed(after.service)
	if err != nil {
		return err
	}
	if _, err := admit(ctx, service, nil); err != nil {
		return fmt.Errorf("the Service %s is one that Knative refuses: %w", after.name, err)
	}
	return nil
}

// checkUpdate does the same as the update from before, where the cluster has the template by
// its name as that has it, with its own defaults.
func checkUpdate(before, after *State, expected Expected) error {
	ctx, err := tolerant(context.Background())
	if err != nil {
		return err
	}
	old, err := stored(ctx, before.service)
	if err != nil {
		return err
	}
	name, inGit := before.Revision(), old.Spec.Template
	if after.live != nil && name != "" && name == after.live.Spec.Template.Name && name == after.Revision() {
		old.Spec.Template = after.live.Spec.Template
	}
	err = update(ctx, before.service, after.service, old)
	if err != nil && expected.LiveOtherwise && before.SameTemplate(after) {
		old.Spec.Template = inGit
		err = update(ctx, before.service, after.service, old)
	}
	if err != nil {
		return fmt.Errorf("this change of Service %s is one that Knative refuses: %w", after.name, err)
	}
	return nil
}

// checkNext does the same for the commit that comes next and leaves the
// template alone. What was there before any promotion need not take that.
func checkNext(_, after *State, _ Expected) error {
	if !after.Owned() {
		return nil
	}
	ctx, err := tolerant(context.Background())
	if err != nil {
		return err
	}
	created, err := stored(ctx, after.service)
	if err != nil {
		return err
	}
	if err := update(ctx, after.service, after.service, created); err != nil {
		return fmt.Errorf("the next commit, which only shifts the traffic of Service %s, is one that Knative refuses: is a patch after %s, a replacement or a transformer rewriting lists of the template? List the tool's patches last: %w",
			after.name, defaultsName(after), err)
	}
	return nil
}

// update applies a render over what an earlier render has become in the
// cluster.
func update(ctx context.Context, original, modified object, live *servingv1.Service) error {
	updated, err := apply(original, modified, live)
	if err != nil {
		return err
	}
	_, err = admit(ctx, updated, live)
	return err
}

// admit is what Knative's webhooks and the API server make of a Service that
// is created (live is nil) or updated. They hand it on as JSON, where an empty
// list is an absent one; this counts, because a template under an unchanged
// name must not differ even in that.
func admit(ctx context.Context, service, live *servingv1.Service) (*servingv1.Service, error) {
	if live == nil {
		ctx = apis.WithinCreate(ctx)
	} else {
		ctx = apis.WithinUpdate(ctx, live)
	}
	schemaDefaults(service)
	service.SetDefaults(ctx)
	service, err := throughJSON(service)
	if err != nil {
		return nil, err
	}
	if err := service.Validate(ctx).Filter(apis.ErrorLevel); err != nil {
		return nil, errors.New(refusal(err))
	}
	return service, nil
}

// refusal is what Knative's validation says. It may quote a long value before
// the field that it stands in, which is cut.
func refusal(err *apis.FieldError) string {
	var short *apis.FieldError
	for _, e := range err.WrappedErrors() {
		e.Message = oneline.Of(e.Message, 200)
		short = short.Also(e)
	}
	return oneline.Of(short.Error(), 400)
}

// stored is the Service as Knative defaults it on a create and the API server
// gives it back.
func stored(ctx context.Context, service object) (*servingv1.Service, error) {
	created, err := typed(service)
	if err != nil {
		return nil, err
	}
	schemaDefaults(created)
	created.SetDefaults(apis.WithinCreate(ctx))
	return throughJSON(created)
}

// schemaDefaults adds what the API server adds by the schema of Knative's
// Services, before any webhook and on every write: the protocol of ports.
// https://github.com/knative/serving/blob/v0.42.2/config/core/300-resources/service.yaml#L492-L497
func schemaDefaults(service *servingv1.Service) {
	spec := &service.Spec.Template.Spec
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for _, c := range containers {
			for i := range c.Ports {
				c.Ports[i].Protocol = cmp.Or(c.Ports[i].Protocol, corev1.ProtocolTCP)
			}
		}
	}
}

func throughJSON(service *servingv1.Service) (*servingv1.Service, error) {
	raw, err := json.Marshal(service)
	if err != nil {
		return nil, err
	}
	var back servingv1.Service
	return &back, json.Unmarshal(raw, &back)
}

// apply is the three-way merge that Argo CD and kubectl do on custom
// resources.
func apply(original, modified object, live *servingv1.Service) (*servingv1.Service, error) {
	var raw [3][]byte
	for i, v := range []any{original, modified, live} {
		var err error
		if raw[i], err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(raw[0], raw[1], raw[2])
	if err != nil {
		return nil, fmt.Errorf("merging Service %s: %w", live.Name, err)
	}
	merged, err := jsonpatch.MergePatch(raw[2], patch)
	if err != nil {
		return nil, fmt.Errorf("merging Service %s: %w", live.Name, err)
	}
	var service servingv1.Service
	return &service, json.Unmarshal(merged, &service)
}

// tolerant lets Knative's validation pass what a cluster's administrator can
// allow: the overlay is synced to a cluster whose settings are not known here.
// Defaults are Knative's built-in ones.
// https://knative.dev/docs/serving/configuration/feature-flags/
func tolerant(ctx context.Context) (context.Context, error) {
	features := map[string]string{}
	for _, name := range []string{
		"multi-container", "multi-container-probing", "kubernetes.podspec-affinity", "kubernetes.podspec-topologyspreadconstraints",
		"kubernetes.podspec-hostaliases", "kubernetes.podspec-fieldref", "kubernetes.podspec-nodeselector",
		"kubernetes.podspec-runtimeclassname", "kubernetes.podspec-securitycontext", "kubernetes.podspec-shareprocessnamespace",
		"kubernetes.podspec-priorityclassname", "kubernetes.podspec-schedulername", "kubernetes.containerspec-addcapabilities",
		"kubernetes.podspec-tolerations", "kubernetes.podspec-volumes-emptydir", "kubernetes.podspec-init-containers",
		"kubernetes.podspec-persistent-volume-claim", "kubernetes.podspec-persistent-volume-write",
		"kubernetes.podspec-dnspolicy", "kubernetes.podspec-dnsconfig",
	} {
		features[name] = "enabled"
	}
	var c config.Config
	var errs [3]error
	c.Features, errs[0] = config.NewFeaturesConfigFromMap(features)
	c.Defaults, errs[1] = config.NewDefaultsConfigFromMap(map[string]string{
		"max-revision-timeout-seconds":    "86400000",
		"container-concurrency-max-limit": "1000000000",
	})
	c.Autoscaler, errs[2] = autoscaling.NewConfigFromMap(map[string]string{"allow-zero-initial-scale": "true"})
	return config.ToContext(ctx, &c), errors.Join(errs[:]...)
}
