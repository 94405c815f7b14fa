package plane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// A Kube applies manifests to the Kubernetes API and reads any kind of object.
type Kube struct {
	dynamic.Interface
	discovery discovery.DiscoveryInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	namespace string // of objects that name none
	manager   string // of the fields that are applied
}

// Kube reaches the control plane's Kubernetes API.
func (p *Plane) Kube() (*Kube, error) { return newKube(p.RESTConfig()) }

func newKube(config *rest.Config) (*Kube, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Kube{objects, found, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found)), metav1.NamespaceDefault, "release"}, nil
}

// In is the same Kube for objects that name no namespace of their own.
func (k *Kube) In(namespace string) *Kube {
	return &Kube{k.Interface, k.discovery, k.mapper, namespace, k.manager}
}

// By is the same Kube under another manager's name: what one manager leaves
// out of an object that it applied before is taken away, what another has
// applied stays.
func (k *Kube) By(manager string) *Kube {
	return &Kube{k.Interface, k.discovery, k.mapper, k.namespace, manager}
}

func (k *Kube) ready(ctx context.Context) error {
	return k.discovery.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// Apply applies every document of some YAML, as kubectl apply --server-side
// would. A kind that was defined a moment ago is waited for.
func (k *Kube) Apply(ctx context.Context, manifest []byte) error {
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(&object.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a manifest: %w", err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if err := k.applyObject(ctx, object, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

// Namespace makes a namespace.
func (k *Kube) Namespace(ctx context.Context, name string) error {
	return k.Apply(ctx, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n"))
}

// ApplyFiles applies the files that match the patterns.
func (k *Kube) ApplyFiles(ctx context.Context, patterns ...string) error {
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("no manifest at %s", pattern)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := k.Apply(ctx, content); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(file), err)
			}
		}
	}
	return nil
}

// DryRun asks the API server and all of its admission whether it would take an
// object, and changes nothing.
func (k *Kube) DryRun(ctx context.Context, object *unstructured.Unstructured) error {
	dry := []string{metav1.DryRunAll}
	resource, err := k.resource(ctx, object)
	if err != nil {
		return err
	}
	if _, err = resource.Get(ctx, object.GetName(), metav1.GetOptions{}); apierrors.IsNotFound(err) {
		_, err = resource.Create(ctx, object, metav1.CreateOptions{DryRun: dry}) // takes unknown fields, which applying does not
		return err
	}
	return k.applyObject(ctx, object, metav1.PatchOptions{DryRun: dry})
}

func (k *Kube) applyObject(ctx context.Context, object *unstructured.Unstructured, options metav1.PatchOptions) error {
	resource, err := k.resource(ctx, object)
	if err != nil {
		return err
	}
	content, err := json.Marshal(object)
	if err != nil {
		return err
	}
	force := true
	options.FieldManager, options.Force = k.manager, &force
	_, err = resource.Patch(ctx, object.GetName(), types.ApplyPatchType, content, options)
	return err
}

// resource is where objects of this kind and namespace live.
func (k *Kube) resource(ctx context.Context, object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := k.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	for tries := 0; meta.IsNoMatchError(err) && tries < 100 && ctx.Err() == nil; tries++ {
		time.Sleep(100 * time.Millisecond)
		k.mapper.Reset()
		mapping, err = k.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return k.Resource(mapping.Resource), nil
	}
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = k.namespace
	}
	return k.Resource(mapping.Resource).Namespace(namespace), nil
}
