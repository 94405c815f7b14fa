package knative

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// A Companion is another object of the overlay that runs an image of the
// Service, so that kustomize moves both.
type Companion struct {
	Name string // Kind/name, with the namespace between them where it has one
	Ends bool   // it runs to its end: a Job, a CronJob or a hook of Argo CD
	Once bool   // Kubernetes takes no other image in it: a Job that Argo CD does not replace
}

// Companions are the other objects that an edit gives other images.
func Companions(before, after *State) []Companion {
	var found []Companion
	for _, c := range otherChanges(before, after) {
		if c.imagesOnly() {
			found = append(found, Companion{Name: c.is.id(), Ends: c.is.ends(), Once: c.is.once()})
		}
	}
	return found
}

// MayMove tells whether a promotion may move a companion: one that runs to its
// end always, one that keeps running where it is named, as Kind/name or with
// its namespace.
func (c Companion) MayMove(also []string) bool {
	kind, rest, _ := strings.Cut(c.Name, "/")
	short := kind + "/" + rest[strings.LastIndex(rest, "/")+1:]
	return c.Ends || slices.Contains(also, c.Name) || slices.Contains(also, short)
}

// Moves is in words how a companion gets the other images.
func (c Companion) Moves() string {
	if c.Once {
		return c.Name + " runs the image too, and Kubernetes takes no other one in a Job that exists: each sync fails with it, and each step waits for all retries of that"
	}
	return c.Name + " runs the image too and moves with the first commit, without steps"
}

// BroughtBack names the objects beside the Service that a State has as an earlier one had
// them, and that differ in the one that somebody has returned to, as Kind/name.
func BroughtBack(now, from, to *State) []string {
	changed := func(before, after *State) []string {
		var ids []string
		for _, c := range otherChanges(before, after) {
			if c.is != nil {
				ids = append(ids, c.is.id())
			} else {
				ids = append(ids, c.was.id())
			}
		}
		return ids
	}
	since := changed(from, now)
	return slices.DeleteFunc(changed(from, to), func(id string) bool { return slices.Contains(since, id) })
}

// otherChange is an object but the Service that differs in two States.
type otherChange struct {
	was, is object   // nil: it is not there
	fields  []string // in which it differs
}

// otherChanges are in the order of the objects' names.
func otherChanges(before, after *State) []otherChange {
	was, is := byKey(before.objects), byKey(after.objects)
	delete(is, after.service.key())
	delete(was, after.service.key())
	all := maps.Clone(was)
	maps.Copy(all, is)
	var changes []otherChange
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c := otherChange{was: was[key], is: is[key]}
		if c.was != nil && c.is != nil {
			c.fields = differences("", map[string]any(c.was), map[string]any(c.is))
		}
		if c.was == nil || c.is == nil || len(c.fields) > 0 {
			changes = append(changes, c)
		}
	}
	return changes
}

// byKey are objects by their keys. Of several with one key, as of those without a name, each but the first has its number behind it.
func byKey(objects []object) map[string]object {
	found, seen := map[string]object{}, map[string]int{}
	for _, o := range objects {
		key := o.key()
		if seen[key]++; seen[key] > 1 {
			key = fmt.Sprintf("%s (%d)", key, seen[key])
		}
		found[key] = o
	}
	return found
}

var anyImage = regexp.MustCompile(`/(containers|initContainers)/\d+/image$`)

// imagesOnly tells whether nothing but images of containers changes.
func (c otherChange) imagesOnly() bool {
	return c.was != nil && c.is != nil && !slices.ContainsFunc(c.fields, func(field string) bool { return !anyImage.MatchString(field) })
}

// runsImagesOf tells whether the images that change become what the Service's own become: its image, or the tag and the
// digest of one, where an entry sets those of several images.
func (c otherChange) runsImagesOf(after *State) bool {
	sets := AllImages(after)
	return !slices.ContainsFunc(c.fields, func(field string) bool {
		then, _ := c.was.value(field)
		now, _ := c.is.value(field)
		was, is := fmt.Sprint(then), fmt.Sprint(now)
		name, tag, digest := kustomize.SplitImage(is)
		nameThen, _, _ := kustomize.SplitImage(was)
		return !slices.Contains(sets, is) && (name != nameThen || !slices.ContainsFunc(sets, func(image string) bool {
			_, t, d := kustomize.SplitImage(image)
			return t == tag && d == digest
		}))
	})
}

// ofImages tells whether an image of a container changes, or an object comes or goes.
func (c otherChange) ofImages() bool {
	return c.was == nil || c.is == nil || slices.ContainsFunc(c.fields, anyImage.MatchString)
}

// String is the object and what changes of it.
func (c otherChange) String() string {
	switch {
	case c.was == nil:
		return c.is.id() + " (new)"
	case c.is == nil:
		return c.was.id() + " (gone)"
	}
	return c.is.id() + " " + list(c.fields)
}

// ends tells whether an object runs to its end.
func (o object) ends() bool {
	return o.hook() || o["kind"] == "Job" || o["kind"] == "CronJob"
}

// once tells whether an object is a Job that no sync changes or replaces.
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#writing-a-job-spec
func (o object) once() bool {
	replaced := strings.Contains(o.text("metadata", "annotations", "argocd.argoproj.io/sync-options"), "Replace=true")
	return o["kind"] == "Job" && !o.hook() && !replaced
}

// hook tells whether Argo CD runs an object as a hook of a sync.
// https://argo-cd.readthedocs.io/en/stable/user-guide/resource_hooks/
func (o object) hook() bool {
	return o.text("metadata", "annotations", "argocd.argoproj.io/hook") != ""
}

// checkOthers finds changes in any object but the Service, other than an image
// that may move with the Service's.
func checkOthers(before, after *State, expected Expected) error {
	var foreign, running, names, services []string
	for _, c := range otherChanges(before, after) {
		switch {
		case expected.Follows && !c.ofImages():
		case !c.imagesOnly() || !c.runsImagesOf(after):
			foreign = append(foreign, c.String())
		case c.is.isKnativeService():
			services = append(services, c.is.id())
		case !Companion{Name: c.is.id(), Ends: c.is.ends()}.MayMove(expected.Also):
			running, names = append(running, c.String()), append(names, c.is.id())
		}
	}
	switch {
	case len(foreign) > 0:
		return fmt.Errorf("the edit would change more than Service %s: %s; a promotion may change its image, revision name and traffic only", after.name, list(append(foreign, running...)))
	case len(running) > 0:
		return fmt.Errorf("the edit would change more than Service %s: %s; what keeps running moves with the image, at once and without steps, only where it is named (also: %s); "+
			"else give the image a name of its own there in the base, or move the object to another overlay", after.name, list(running), list(names))
	case len(services) > 0:
		return fmt.Errorf("%s runs an image of Service %s too and is promoted by itself, with steps and guards of its own: "+
			"give the image a name of its own there in the base, or move the object to another overlay", list(services), after.name)
	}
	return nil
}
