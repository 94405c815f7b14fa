package knative

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

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
	was, err := withOthers(ctx, before, names)
	if err != nil {
		return err
	}
	is, err := withOthers(ctx, after, names)
	if err != nil {
		return err
	}
	own := slices.Concat(ownFields(before), ownFields(after))
	different, err := unlike(was.state, is.state, is.standFor(was), own...)
	different = slices.DeleteFunc(different, func(changed string) bool { // a part of the one form may be the whole of the other
		field, ofService := strings.CutPrefix(changed, after.service.id()+" ")
		return ofService && mayFollow(field, was.state.service, is.state.service)
	})
	if err != nil || len(different) == 0 {
		return err
	}
	return fmt.Errorf("overlay %s: with a tag or digest of another form of %s more than its text would be otherwise: %s; take out the patch or the transformer that is meant for some tags alone",
		after.Overlay, is, list(different))
}

// withOthers are others in a State, whose render they do not change but for their text.
func withOthers(ctx context.Context, s *State, names []string) (o others, err error) {
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
	different, err := unlike(s, o.state, o.texts, "/spec/traffic")
	if err != nil {
		return o, err
	}
	if len(different) > 0 {
		return o, fmt.Errorf("overlay %s: with another tag or digest of %s, another name of the revision and other traffic, more than their text would be otherwise: %s; "+
			"take out the patch or the transformer that is meant for one tag, revision or share alone, or for all but one", s.Overlay, o, list(different))
	}
	if follows := o.following(s); len(follows) > 0 {
		return o, fmt.Errorf("overlay %s: text of a tag, a digest or a revision's name is copied to %s, so that whoever names those decides what stands there: "+
			"only tags of images, also in annotations that are called so, and labels, annotations and environment values that are called a version, tag, commit, digest, release or build may follow them", s.Overlay, list(follows))
	}
	return o, nil
}

// following are the fields of the Service that text of what is made up has come to, and that should not follow it: whoever names a tag
// would decide of the pod's rights, or whose image runs beside.
func (o others) following(s *State) []string {
	was, is := s.service.withTemplateMetadata(), o.state.service.withTemplateMetadata()
	texts := strings.NewReplacer(generatedNames(s, o.state)...)
	return slices.DeleteFunc(differences("", map[string]any(was), map[string]any(is)), func(field string) bool {
		then, _ := was.value(field)
		now, _ := is.value(field)
		return below(field, []string{"/spec/traffic", "/spec/template/metadata/name"}) ||
			texts.Replace(fmt.Sprint(now)) == fmt.Sprint(then) || mayFollow(field, was, is)
	})
}

// mayFollow tells whether a field of the Service may be as it is in two renders with different tags: it stands where tags do and is
// called so, and an image is still of the same name. An injector may run the image of an annotation.
func mayFollow(field string, was, is object) bool {
	called := field[strings.LastIndex(field, "/")+1:]
	if owner, isValue := strings.CutSuffix(field, "/value"); isValue {
		name, _ := is.value(owner + "/name")
		called = fmt.Sprint(name)
	}
	then, _ := was.value(field)
	now, _ := is.value(field)
	image, other := fmt.Sprint(then), fmt.Sprint(now)
	name, _, _ := kustomize.SplitImage(image)
	otherName, _, _ := kustomize.SplitImage(other)
	switch {
	case containerImage.MatchString(field):
		return name == otherName
	case !ofVersion.MatchString(field):
		return false
	case versionName.MatchString(called) && !strings.Contains(image+other, "/"):
		return true
	}
	return (versionName.MatchString(called) || imageName.MatchString(called)) && name == otherName
}

// What may follow a tag: by where it stands, and by what it is called.
var (
	containerImage = regexp.MustCompile(`^/spec/template/spec/(containers|initContainers)/\d+/image$`)
	ofVersion      = regexp.MustCompile(`^/(spec/template/)?metadata/(labels|annotations)/[^/]+$|^/spec/template/spec/(containers|initContainers)/\d+/env/\d+/value$`)
	versionName    = regexp.MustCompile(`(?i)(version|tag|commit|sha|digest|release|build|revision|chart)[^/~]*$`)
	imageName      = regexp.MustCompile(`(?i)image[^/~]*$`)
)

// route is a State with other revisions and other traffic in the tool's own patch, where there is one, not yet rendered.
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
	o.revision = another(s.Revision())
	for i := range traffic {
		if traffic[i].RevisionName != "" {
			traffic[i].RevisionName = another(traffic[i].RevisionName)
		}
		share := int64(31 + 2*i)
		if int(share) == Percent(traffic[i]) {
			share++
		}
		traffic[i].Percent = &share
	}
	return editedTo(s, map[string][]byte{routePath(s): patchFile(target.Name, o.revision, traffic, nil)}), nil
}

// generated is the name of a ConfigMap or Secret with the hash of its content, as kustomize makes it.
var generated = regexp.MustCompile(`^(.+-)[a-z0-9]{10}$`)

// unlike is what differs in two renders, where not in these fields of the Service, beside texts that stand for others. The names of
// what is generated follow from its content.
func unlike(s, other *State, texts []string, but ...string) (different []string, err error) {
	texts = append(texts, generatedNames(s, other)...)
	is, err := replaced(s.objects, strings.NewReplacer())
	if err != nil {
		return nil, err
	}
	would, err := replaced(other.objects, strings.NewReplacer(texts...))
	if err != nil {
		return nil, err
	}
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
		case key == s.service.key():
			was, now = was.withTemplateMetadata(), now.withTemplateMetadata()
		}
		for _, field := range differences("", map[string]any(was), map[string]any(now)) {
			if key != s.service.key() || !below(field, but) {
				different = append(different, was.id()+" "+field)
			}
		}
	}
	return different, nil
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
func replaced(objects []object, by *strings.Replacer) (map[string]object, error) {
	encoded, err := json.Marshal(objects)
	if err != nil {
		return nil, fmt.Errorf("comparing what is rendered: %w", err)
	}
	var found []object
	if err := json.Unmarshal([]byte(by.Replace(string(encoded))), &found); err != nil {
		return nil, fmt.Errorf("comparing what is rendered: %w", err)
	}
	return byKey(found), nil
}
