package knative

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// Intent is what an edit is meant to show in the render, and nothing else.
type Intent struct {
	Images   []kustomize.Image // set images; none when the images are restored
	Revision string            // the template's name; empty when it has none
	Traffic  []servingv1.TrafficTarget
}

var imageField = regexp.MustCompile(`^/spec/template/spec/(containers|initContainers)/\d+/image$`)

// Check tells whether the edit from before to after shows exactly the intent
// in the render, changes nothing else, and is one that Knative would accept.
// The error says what else changed.
func Check(before, after *State, intent Intent) error {
	for _, check := range []func(before, after *State, intent Intent) error{
		checkOthers, checkService, checkOwn, checkImages, checkRoute, checkKnative,
	} {
		if err := check(before, after, intent); err != nil {
			return fmt.Errorf("overlay %s: %w", after.Overlay, err)
		}
	}
	return nil
}

// checkOthers finds changes in any object but the Service.
func checkOthers(before, after *State, _ Intent) error {
	was, is := map[string]object{}, map[string]object{}
	for _, o := range before.objects {
		was[o.id()] = o
	}
	for _, o := range after.objects {
		is[o.id()] = o
	}
	own := after.service.id()
	var changed []string
	for _, id := range slices.Sorted(maps.Keys(is)) {
		if id == own {
			continue
		}
		for _, field := range differences("", map[string]any(was[id]), map[string]any(is[id])) {
			changed = append(changed, id+" "+field)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if is[id] == nil {
			changed = append(changed, id+" (gone)")
		}
	}
	if len(changed) > 0 {
		return fmt.Errorf("the edit would change more than Service %s: %s; a promotion may change its image, revision name and traffic only", after.name, list(changed))
	}
	return nil
}

// checkService finds changes of the Service that are not the image's.
func checkService(before, after *State, _ Intent) error {
	var changed []string
	for _, field := range differences("", map[string]any(before.plain), map[string]any(after.plain)) {
		if !imageField.MatchString(field) {
			changed = append(changed, field)
		}
	}
	if len(changed) > 0 {
		return fmt.Errorf("the edit would change more of Service %s than its image: %s", after.name, list(changed))
	}
	return nil
}

// checkOwn finds fields in the tool's own patches, before or after, that are
// not the tool's: somebody else's edit there would be lost.
func checkOwn(before, after *State, _ Intent) error {
	for _, s := range []*State{before, after} {
		allowed := map[string]bool{"/spec/traffic": true, "/spec/template/metadata/name": true}
		ops, err := s.defaultsInTree()
		if err != nil {
			return err
		}
		for _, op := range ops {
			allowed[op.Path] = true
		}
		var foreign []string
		for _, field := range differences("", map[string]any(s.plain), map[string]any(s.service)) {
			if field == "/spec/template/metadata" && s.plain.at("spec", "template", "metadata") == nil {
				continue
			}
			if !allowed[field] && !strings.HasPrefix(field, "/spec/traffic/") {
				foreign = append(foreign, field)
			}
		}
		if len(foreign) > 0 {
			return fmt.Errorf("%s changes %s, which is not its own; move that to a patch of its own", path.Base(s.ownFiles()[0]), list(foreign))
		}
	}
	return nil
}

// checkImages wants every set image in some container.
func checkImages(_, after *State, intent Intent) error {
	if len(intent.Images) == 0 {
		return nil
	}
	_, kustomization, err := after.Kustomization()
	if err != nil {
		return err
	}
	entries, err := kustomize.Images(kustomization)
	if err != nil {
		return err
	}
	running := append(after.Images(), after.images("initContainers")...)
	for _, want := range intent.Images {
		i := slices.IndexFunc(entries, func(e kustomize.Image) bool { return e.Name == want.Name })
		if i < 0 || !slices.ContainsFunc(running, func(image string) bool { return shows(image, entries[i]) }) {
			return fmt.Errorf("image %s is set, but no container of Service %s shows it: they run %s; the name before = is the image's name in the base",
				want.Name, after.name, strings.Join(running, ", "))
		}
	}
	return nil
}

// shows tells whether a container's image is what the entry makes of it.
func shows(image string, entry kustomize.Image) bool {
	name, digest, _ := strings.Cut(image, "@")
	tag := ""
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name, tag = name[:i], name[i+1:]
	}
	wantName := entry.NewName
	if wantName == "" {
		wantName = entry.Name
	}
	return name == wantName && (entry.NewTag == "" || tag == entry.NewTag) && (entry.Digest == "" || digest == entry.Digest)
}

func checkRoute(_, after *State, intent Intent) error {
	if after.Revision() != intent.Revision {
		return fmt.Errorf("Service %s renders with revision %q instead of %q: a patch after ours, or of an overlay above, names it", after.name, after.Revision(), intent.Revision)
	}
	traffic, err := after.Traffic()
	if err != nil {
		return err
	}
	if !SameTraffic(traffic, intent.Traffic) {
		return fmt.Errorf("Service %s renders with traffic %s instead of %s: another patch writes it too", after.name, Describe(traffic), Describe(intent.Traffic))
	}
	return nil
}

// checkKnative runs Knative's own defaulting and validation on the Service as
// a create and as the update from before, merged as `kubectl apply` does.
func checkKnative(before, after *State, _ Intent) error {
	old, err := stored(before.service)
	if err != nil {
		return err
	}
	created, err := typed(after.service)
	if err != nil {
		return err
	}
	create := apis.WithinCreate(context.Background())
	created.SetDefaults(create)
	if err := created.Validate(create).Filter(apis.ErrorLevel); err != nil {
		return fmt.Errorf("Knative would refuse Service %s: %w", after.name, err)
	}
	updated, err := apply(before.service, after.service, old)
	if err != nil {
		return err
	}
	update := apis.WithinUpdate(context.Background(), old)
	updated.SetDefaults(update)
	if err := updated.Validate(update).Filter(apis.ErrorLevel); err != nil {
		return fmt.Errorf("Knative would refuse this change of Service %s: %w", after.name, err)
	}
	return nil
}

// stored is the Service as Knative defaults it on a create and the API server
// gives it back: through JSON, where an empty map is an absent one.
func stored(service object) (*servingv1.Service, error) {
	created, err := typed(service)
	if err != nil {
		return nil, err
	}
	created.SetDefaults(apis.WithinCreate(context.Background()))
	raw, err := json.Marshal(created)
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

// differences lists the paths at which two values differ, the deepest ones
// that both sides reach.
func differences(at string, a, b any) []string {
	if am, ok := a.(map[string]any); ok && am != nil {
		if bm, ok := b.(map[string]any); ok && bm != nil {
			keys := maps.Clone(am)
			maps.Copy(keys, bm)
			var found []string
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				found = append(found, differences(at+"/"+key, am[key], bm[key])...)
			}
			return found
		}
	}
	if as, ok := a.([]any); ok {
		if bs, ok := b.([]any); ok && len(as) == len(bs) {
			var found []string
			for i := range as {
				found = append(found, differences(at+"/"+strconv.Itoa(i), as[i], bs[i])...)
			}
			return found
		}
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []string{at}
}

// list joins what was found, cut after a few.
func list(found []string) string {
	const most = 5
	if len(found) > most {
		return strings.Join(found[:most], ", ") + fmt.Sprintf(" and %d more", len(found)-most)
	}
	return strings.Join(found, ", ")
}
