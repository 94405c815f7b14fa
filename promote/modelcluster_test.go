package promote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	listers "knative.dev/serving/pkg/client/listers/serving/v1"
	"knative.dev/serving/pkg/reconciler/route/traffic"

	"github.com/acme/knative-promote/gitops/knative"
)

// A clusterModel is the Service in a cluster, as it is synced from Git: Knative makes a
// revision of its template, and its own code tells whether it can route to all targets
// of the traffic, or does nothing of it.
type clusterModel struct {
	synced    string                    // the commit that Argo CD applied last
	wanted    string                    // the one that it compared last
	manual    bool                      // it syncs nothing by itself
	deployed  []string                  // the commits that Argo CD applied, in their order
	service   *servingv1.Service        // as applied; nil: there is none
	fails     func([]string) bool       // tells of images whether a revision of them never becomes ready; nil: none
	revisions map[string]*modelRevision // that there are
	count     int                       // generations of the template
	created   string                    // the revision of the present template
	ready     string                    // the latest ready one
	routed    []servingv1.TrafficTarget
	refused   error // why Knative does not route the traffic as it stands; nil: it does
}

type modelRevision struct {
	template servingv1.RevisionTemplateSpec
	why      string // why it is not Ready; empty: it is
}

func newClusterModel() *clusterModel { return &clusterModel{revisions: map[string]*modelRevision{}} }

// compare looks whether a commit is what the cluster has.
func (c *clusterModel) compare(ctx context.Context, commit string, tree fs.FS) {
	if c.wanted == commit {
		return
	}
	c.wanted = commit
	if service, err := rendered(ctx, tree); err == nil && equality.Semantic.DeepEqual(service, c.service) {
		c.synced = commit
	}
}

// apply brings a commit to the cluster. Where that renders no Service, it is pruned;
// what does not render changes nothing.
func (c *clusterModel) apply(ctx context.Context, commit string, tree fs.FS) {
	c.wanted = commit
	if c.synced == commit {
		return
	}
	service, err := rendered(ctx, tree)
	if err != nil {
		return
	}
	c.synced, c.deployed = commit, append(c.deployed, commit)
	if service == nil {
		c.remove()
		return
	}
	c.set(service)
}

// rendered is the Service of a commit as the API server has it; nil: there is none.
func rendered(ctx context.Context, tree fs.FS) (*servingv1.Service, error) {
	state, err := knative.Read(ctx, tree, "web", "web")
	if errors.Is(err, knative.ErrNoService) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	service, err := state.Written()
	if err != nil {
		return nil, err
	}
	service.SetDefaults(ctx) // as Knative's webhook does
	return stored(service)
}

// stored is a Service as the API server gives it back: in JSON nothing is the same as
// an empty map.
func stored(service *servingv1.Service) (*servingv1.Service, error) {
	raw, err := json.Marshal(service)
	if err != nil {
		return nil, err
	}
	back := &servingv1.Service{}
	return back, json.Unmarshal(raw, back)
}

func (c *clusterModel) set(service *servingv1.Service) {
	if c.service == nil || !equality.Semantic.DeepEqual(c.service.Spec.Template, service.Spec.Template) {
		c.count++
	}
	c.service = service
	c.reconcile()
}

// remove deletes the Service with its revisions.
func (c *clusterModel) remove() {
	*c = clusterModel{revisions: map[string]*modelRevision{}, wanted: c.wanted, synced: c.synced, manual: c.manual, deployed: c.deployed, fails: c.fails}
}

// reconcile is what Knative's controllers do when anything has changed.
func (c *clusterModel) reconcile() {
	if c.service == nil {
		return
	}
	template := c.service.Spec.Template
	c.created = template.Name
	if c.created == "" {
		c.created = fmt.Sprintf("web-%05d", c.count)
	}
	if c.revisions[c.created] == nil {
		made := &modelRevision{template: *template.DeepCopy()}
		if c.fails != nil && c.fails(containerImages(template)) {
			made.why = "ImagePullBackOff"
		}
		c.revisions[c.created] = made
	}
	if c.taken() == "" && c.revisions[c.created].why == "" {
		c.ready = c.created
	}
	if c.refused = c.routable(); c.refused == nil {
		c.routed = c.resolved()
	}
}

// taken is why the template's revision cannot be made; empty: it can.
func (c *clusterModel) taken() string {
	if have := c.revisions[c.created]; !equality.Semantic.DeepEqual(have.template.Spec, c.service.Spec.Template.Spec) {
		return fmt.Sprintf("revision %s exists with another template", c.created)
	}
	return ""
}

// resolved is the traffic with the revision that "latest" means.
func (c *clusterModel) resolved() []servingv1.TrafficTarget {
	targets := slices.Clone(c.service.Spec.Traffic)
	for i := range targets {
		targets[i].LatestRevision = new(targets[i].RevisionName == "")
		if targets[i].RevisionName == "" {
			targets[i].RevisionName = c.ready
		}
	}
	return targets
}

// routable asks Knative's own code.
func (c *clusterModel) routable() error {
	configuration := &servingv1.Configuration{ObjectMeta: meta("web")}
	configuration.Status.LatestCreatedRevisionName, configuration.Status.LatestReadyRevisionName = c.created, c.ready
	revisions := newIndexer()
	for name := range c.revisions {
		_ = revisions.Add(c.revision(name)) // only an object without metadata fails
	}
	configurations := newIndexer()
	_ = configurations.Add(configuration)
	route := &servingv1.Route{ObjectMeta: meta("web")}
	for _, t := range c.service.Spec.Traffic {
		if t.RevisionName == "" {
			t.ConfigurationName = "web"
		}
		route.Spec.Traffic = append(route.Spec.Traffic, t)
	}
	_, err := traffic.BuildTrafficConfiguration(listers.NewConfigurationLister(configurations), listers.NewRevisionLister(revisions), route)
	return err
}

func newIndexer() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "shop", UID: "a", Generation: 1}
}

func containerImages(template servingv1.RevisionTemplateSpec) (images []string) {
	for _, c := range template.Spec.Containers {
		images = append(images, c.Image)
	}
	return images
}

// unanswered is why users get no answer; empty: all do, from revisions that are Ready.
func (c *clusterModel) unanswered() string {
	shares := knative.Shares(c.routed)
	if len(shares) == 0 {
		return "nothing is routed"
	}
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		switch have := c.revisions[name]; {
		case have == nil:
			return fmt.Sprintf("%d %% go to %s, which does not exist", shares[name], name)
		case have.why != "":
			return fmt.Sprintf("%d %% go to %s, which is not Ready: %s", shares[name], name, have.why)
		}
	}
	return ""
}

// unrouted is why the traffic of the Service is not as it stands in Git, or not
// answered; empty: it is both.
func (c *clusterModel) unrouted() string {
	if c.refused != nil {
		return fmt.Sprintf("Knative routes nothing anew: %v", c.refused)
	}
	return c.unanswered()
}

// text is the cluster in words.
func (c *clusterModel) text() string {
	if c.service == nil {
		return "no Service"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.revisions)) {
		parts = append(parts, strings.TrimSuffix(name+" "+c.revisions[name].why, " "))
	}
	return fmt.Sprintf("routes %s of %s; revisions %s; %s", knative.Describe(c.routed), knative.Describe(c.service.Spec.Traffic), strings.Join(parts, ", "), c.unrouted())
}
