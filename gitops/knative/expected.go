package knative

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// Expected is what an edit is meant to show in the render, and nothing else.
type Expected struct {
	Images   []kustomize.Image // set images; none when the images are restored
	Also     []string          // what keeps running and may move with the images, as Kind/name
	Revision string            // the template's name; empty when it has none
	Traffic  []servingv1.TrafficTarget

	// LiveOtherwise says that a template which the edit leaves as it is may be another one in the
	// cluster under its name, as where Argo CD leaves to the cluster what it is told to ignore.
	LiveOtherwise bool

	// Follows says that what somebody's replacements make of what the edit sets is no reason to refuse it: it is made
	// so that users get an earlier version back.
	Follows bool
}

// Check tells whether the edit from before to after shows exactly what is expected
// in the render, changes nothing else, and is one that Knative would accept.
// The error says what else changed. What somebody has put into the tool's own files before is
// for [CheckOwn]: what rolls back passes over that.
func Check(before, after *State, expected Expected) error {
	for _, check := range []func(before, after *State, expected Expected) error{
		checkOthers, checkService, checkOwn, checkImages, checkRoute, checkCreate, checkUpdate, checkNext,
	} {
		if err := check(before, after, expected); err != nil {
			return fmt.Errorf("overlay %s: %w", after.Overlay, err)
		}
	}
	return nil
}

// checkService finds changes of the Service outside of its template, its traffic
// and its labels. The tool's own patches are not in this, so what changes there is what
// the image changes: a replacement may copy its tag, and an image that is rolled
// back restores that too.
func checkService(before, after *State, expected Expected) error {
	if changed := beside(before, after); len(changed) > 0 && !expected.Follows {
		return fmt.Errorf("the edit would change more of Service %s than its template and its labels: %s; is a replacement or a transformer copying the image?",
			after.name, list(changed))
	}
	return nil
}

// beside are the fields of the Service that an edit changes outside of those.
func beside(before, after *State) []string {
	return slices.DeleteFunc(differences("", map[string]any(before.plain), map[string]any(after.plain)),
		func(field string) bool {
			return below(field, []string{"/spec/template", "/spec/traffic", "/metadata/labels"})
		})
}

// Following are the fields, and the objects with theirs, that an edit changes because somebody's replacements copy
// what it sets.
func Following(before, after *State) (all []string) {
	for _, c := range otherChanges(before, after) {
		if !c.ofImages() {
			all = append(all, c.String())
		}
	}
	had := Foreign(before)
	fields := append(beside(before, after), slices.DeleteFunc(Foreign(after), func(field string) bool { return !slices.Contains(had, field) })...)
	slices.Sort(fields)
	return append(all, slices.Compact(fields)...)
}

// CheckOwn refuses an overlay in whose own files, those of the tool, somebody has put what
// is not the tool's: the next edit writes them anew, and it would be lost.
func CheckOwn(now *State) error {
	if err := checkOwn(nil, now, Expected{}); err != nil {
		return fmt.Errorf("overlay %s: %w", now.Overlay, err)
	}
	return nil
}

func checkOwn(_, after *State, expected Expected) error {
	_, err := defaultsInTree(after)
	if expected.Follows {
		return err
	}
	if foreign := Foreign(after); err == nil && len(foreign) > 0 {
		return fmt.Errorf("%s changes %s, which is not its own; move that to a patch of its own, or take out what copies it there", routeName(after), list(foreign))
	}
	return err
}

// Foreign are the fields that the tool's own files change and that are not the tool's, also where a later patch hides them.
func Foreign(s *State) []string {
	with := s.service.withTemplateMetadata()
	ops, _ := defaultsInTree(s) // those that are the tool's
	foreign := slices.DeleteFunc(differences("", map[string]any(s.plain.withTemplateMetadata()), map[string]any(with)),
		func(field string) bool { return below(field, routedFields) || hasDefault(with, field, ops) })
	for _, field := range foreignIn(contentOf(s, routePath(s))) {
		if !slices.ContainsFunc(foreign, func(known string) bool { return below(field, []string{known}) || below(known, []string{field}) }) {
			foreign = append(foreign, field)
		}
	}
	return foreign
}

// routedFields are the fields of the Service that the tool's patch of the traffic sets.
var routedFields = []string{"/spec/traffic", "/spec/template/metadata/name"}

// ownFields are those of the Service that the tool's own files may set in any of some States.
func ownFields(states ...*State) []string {
	own := slices.Clone(routedFields)
	for _, s := range states {
		ops, _ := defaultsInTree(s) // those that are the tool's
		for _, op := range ops {
			own = append(own, op.Path)
		}
	}
	return own
}

// hasDefault tells whether an object has at a field just what one of these operations writes there.
func hasDefault(o object, field string, ops []operation) bool {
	has, there := o.value(field)
	return slices.ContainsFunc(ops, func(op operation) bool {
		if !below(field, []string{op.Path}) {
			return false
		}
		wants, wanted := object{"value": op.Value}.value("/value" + strings.TrimPrefix(field, op.Path))
		return there == wanted && same(has, wants)
	})
}

// same tells whether two values are the same JSON.
func same(a, b any) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, other)
}

func checkImages(_, after *State, expected Expected) error {
	return after.Shows(expected.Images)
}

// Shows wants every set image in some container. The error says what runs instead, and
// why.
func (s *State) Shows(images []kustomize.Image) error {
	if len(images) == 0 {
		return nil
	}
	entries, err := imageEntries(s)
	if err != nil {
		return err
	}
	for _, want := range images {
		entry, there, err := kustomize.Entry(entries, want.Name)
		if err != nil {
			return fmt.Errorf("image %s: %w", want.Name, err)
		}
		if !there || !runsEntry(s, entry) {
			return fmt.Errorf("image %s is set, but no container of Service %s shows it: %s", want.Name, s.name, instead(s, entry))
		}
	}
	return nil
}

// instead says what the containers run in place of an entry's image, and why.
func instead(s *State, entry kustomize.Image) string {
	running := slices.DeleteFunc(AllImages(s), func(image string) bool { return image == "" })
	named := kustomize.Image{Name: entry.Name, NewName: entry.NewName}
	odd := func(image string) bool {
		_, err := kustomize.ParseImage("x=" + image)
		return err != nil && named.Shows(image)
	}
	switch {
	case len(running) == 0:
		return "none has an image"
	case slices.ContainsFunc(running, odd):
		return fmt.Sprintf("they run %s, which kustomize does not read as an image: expected name:tag or name@sha256:…; correct it in the manifest",
			strings.Join(running, ", "))
	case entry.Name != "" && slices.ContainsFunc(running, named.Shows):
		return fmt.Sprintf("they run %s; a replacement or a transformer sets it again, after images: does; take the image out of that",
			strings.Join(running, ", "))
	}
	return fmt.Sprintf("they run %s; set it by the name that it has before the overlay's own images: (a base or a component may have renamed it)", strings.Join(running, ", "))
}

// checkRoute wants the revision's name and the traffic.
func checkRoute(before, after *State, expected Expected) error {
	if after.Revision() != expected.Revision {
		return fmt.Errorf("Service %s renders with revision %q instead of %q: a later patch, a replacement or a transformer changes its name or its template after %s",
			after.name, after.Revision(), expected.Revision, routeName(after))
	}
	traffic, err := after.Traffic()
	if err != nil {
		return err
	}
	if !SameTraffic(traffic, expected.Traffic) {
		return fmt.Errorf("Service %s renders with traffic %s instead of %s: a later patch, a replacement or a transformer writes it after %s; take that out (a tag of your own may stand in the traffic of that file, and stays there)",
			after.name, Describe(traffic), Describe(expected.Traffic), routeName(after))
	}
	return checkTags(before, after, traffic)
}

// checkTags wants room for the host names that new tags make, tag-service:
// https://knative.dev/docs/serving/traffic-management/
func checkTags(before, after *State, traffic []servingv1.TrafficTarget) error {
	old, err := before.Traffic()
	if err != nil {
		return err
	}
	room := maxName - len("-") - len(after.name)
	for _, t := range traffic {
		if len(t.Tag) > room && !HasTag(old, t.Tag) {
			return fmt.Errorf("the tag %q and the name of Service %s make a host name of more than %d characters, which Knative cannot serve: the tag may have %d",
				t.Tag, after.name, maxName, max(room, 0))
		}
	}
	return nil
}
