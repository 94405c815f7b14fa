package knative

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// CheckText wants nothing that is rendered to depend on more of what runs set than its text: with other tags and digests, another
// name of the revision and other traffic, which nobody can know before, all is the same but for that text. A patch may be meant
// for one tag alone, or for all but one, by what a replacement copies of it, and a diff shows nothing of that before the tag is
// set. Names are those of the images that are set; empty: of all that run.
func CheckText(ctx context.Context, s *State, names ...string) error {
	_, err := withOthers(ctx, s, names)
	return err
}

// CheckTextOf is the same of what an edit makes of a State with other images, and of the two beside each other: a patch may be meant
// for tags of another form.
func CheckTextOf(ctx context.Context, before, after *State, names ...string) error {
	check, err := TextOf(ctx, before, names...)
	if err != nil {
		return err
	}
	return check(ctx, after)
}

// TextOf is [CheckTextOf] for several edits of a State. The error is what [CheckText] says of that.
func TextOf(ctx context.Context, before *State, names ...string) (check func(ctx context.Context, after *State) error, err error) {
	was, err := withOthers(ctx, before, names)
	return func(ctx context.Context, after *State) error { return was.check(ctx, before, after, names) }, err
}

// check is that, with what is made up in the State before; nothing where that is none.
func (o others) check(ctx context.Context, before, after *State, names []string) error {
	if o.state == nil {
		return nil
	}
	is, err := withOthers(ctx, after, names)
	if err != nil {
		return err
	}
	different, err := o.unlike(is, ownFields(before, after))
	if err != nil {
		return err
	}
	if len(different) == 0 {
		return nil
	}
	return fmt.Errorf("overlay %s: with a tag or digest of another form of %s more than its text would be otherwise: %s; take out the patch or the transformer that is meant for some tags alone",
		after.Overlay, is, list(different))
}

// unlike is what differs in two States with what is made up, but for these fields of the Service. What those hide is seen where the
// Service is without the tool's files.
func (o others) unlike(is others, own []string) (different []string, err error) {
	mark := madeUp(madeUpDigits, 15) // YAML may read it as a number
	generated := strings.NewReplacer(generatedNames(o.state, is.state)...)
	then, now := o.marked(mark, o), is.marked(mark, o)
	for _, of := range []func(*State) []object{func(s *State) []object { return s.objects }, func(s *State) []object { return []object{s.plain} }} {
		was, err := replaced(of(o.state), then)
		if err != nil {
			return nil, err
		}
		has, err := replaced(of(is.state), func(text string) string { return now(generated.Replace(text)) })
		if err != nil {
			return nil, err
		}
		if different = unlike(was, has, is.state.service.key(), own...); len(different) > 0 {
			break
		}
		own = routedFields
	}
	return different, nil
}

// withOthers are others in a State, whose render they do not change but for their text.
func withOthers(ctx context.Context, s *State, names []string) (o others, err error) {
	if err := readRaw(ctx, s); err != nil {
		return o, err
	}
	if o, err = otherTags(s, names); err != nil {
		return o, err
	}
	routed, err := o.route(s)
	if err == nil {
		o.state, err = routed.SetImages(ctx, o.set)
	}
	if err == nil && len(o.unset) > 0 {
		s, err = s.SetImages(ctx, o.unset)
	}
	if err != nil {
		return o, fmt.Errorf("with another tag or digest of %s: %w", o, err)
	}
	then, err := replaced(s.objects, strings.NewReplacer().Replace)
	if err != nil {
		return o, err
	}
	now, err := replaced(o.state.objects, strings.NewReplacer(append(o.texts, generatedNames(s, o.state)...)...).Replace)
	if err != nil {
		return o, err
	}
	different := unlike(then, now, s.service.key(), "/spec/traffic")
	if len(different) > 0 {
		return o, fmt.Errorf("overlay %s: with another tag or digest of %s, another name of the revision and other traffic, more than their text would be otherwise: %s; "+
			"take out the patch or the transformer that is meant for one tag, revision or share alone, or for all but one", s.Overlay, o, list(different))
	}
	if follows := o.following(s); len(follows) > 0 {
		return o, fmt.Errorf("overlay %s: text of a tag, a digest or a revision's name is copied to %s, so that whoever names those decides what stands there: "+
			"only tags of images, also in annotations that are called so, and labels, annotations, arguments and environment values that are called a version, tag, commit, digest, release or build, as in VERSION or --version=, may follow them", s.Overlay, list(follows))
	}
	return o, nil
}

// readRaw is an error where a generator reads a file that runs write: its content is all of it, with the record and the entries of others.
func readRaw(ctx context.Context, s *State) error {
	raw, err := kustomize.Raw(ctx, filesOf(s, nil), s.Overlay)
	if err != nil {
		return err
	}
	for _, file := range filesOfRuns(s) {
		if slices.Contains(raw, file) {
			return fmt.Errorf("overlay %s: a generator reads %s, which every run writes, so that what is rendered may depend on any of its text: take that out of its files", s.Overlay, file)
		}
	}
	return nil
}

// route is a State with other revisions and other traffic, one target more of it, in the tool's own patch, where there is one, not yet rendered.
func (o *others) route(s *State) (*State, error) {
	if contentOf(s, routePath(s)) == nil || s.Revision() == "" {
		return s, nil
	}
	traffic, err := s.Traffic()
	if err != nil {
		return nil, err
	}
	target, err := PatchTarget(s)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	another := func(revision string) string {
		if known[revision] == "" {
			known[revision] = s.name + "-" + otherPart(12)
			o.texts = append(o.texts, known[revision], revision)
		}
		return known[revision]
	}
	for i := range traffic {
		if traffic[i].RevisionName != "" {
			traffic[i].RevisionName = another(traffic[i].RevisionName)
		}
		if tag := traffic[i].Tag; tag != "" {
			traffic[i].Tag = otherPart(12)
			o.texts = append(o.texts, traffic[i].Tag, tag)
		}
		share := int64(31 + 2*i)
		if int(share) == Percent(traffic[i]) {
			share++
		}
		traffic[i].Percent = &share
	}
	traffic = append(traffic, servingv1.TrafficTarget{RevisionName: s.name + "-" + otherPart(12), Tag: otherPart(12)})
	return editedTo(s, map[string][]byte{routePath(s): patchFile(target.Name, another(s.Revision()), traffic, nil)}), nil
}

// generated is the name of a ConfigMap or Secret with the hash of its content, as kustomize makes it.
var generated = regexp.MustCompile(`^(.+-)[a-z0-9]{10}$`)

// unlike is what differs in objects, where not in these fields of the Service.
func unlike(is, would map[string]object, service string, but ...string) (different []string) {
	keys := maps.Clone(is)
	maps.Copy(keys, would)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, now := is[key], would[key]
		switch {
		case was == nil:
			different = append(different, now.id())
			continue
		case now == nil:
			different = append(different, was.id())
			continue
		case key == service:
			was, now = was.withTemplateMetadata(), now.withTemplateMetadata()
		}
		for _, field := range differences("", map[string]any(was), map[string]any(now)) {
			if key != service || !below(field, but) {
				different = append(different, was.id()+" "+field)
			}
		}
	}
	return different
}

// generatedNames are those in another render of what is generated, each with what it stands for.
func generatedNames(s, other *State) (texts []string) {
	known := byKey(s.objects)
	for _, o := range s.objects {
		name := generated.FindStringSubmatch(o.text("metadata", "name"))
		if name == nil || o["kind"] != "ConfigMap" && o["kind"] != "Secret" {
			continue
		}
		for _, would := range other.objects {
			made := generated.FindStringSubmatch(would.text("metadata", "name"))
			if made != nil && made[1] == name[1] && would["kind"] == o["kind"] && known[would.key()] == nil {
				texts = append(texts, made[0], name[0])
			}
		}
	}
	return texts
}

// replaced are objects with other texts, by their keys.
func replaced(objects []object, by func(string) string) (map[string]object, error) {
	encoded, err := json.Marshal(objects)
	if err != nil {
		return nil, fmt.Errorf("comparing what is rendered: %w", err)
	}
	var found []object
	if err := json.Unmarshal([]byte(by(string(encoded))), &found); err != nil {
		return nil, fmt.Errorf("comparing what is rendered: %w", err)
	}
	return byKey(found), nil
}
