package knative

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// CheckImageText wants nothing that is rendered to depend on more of a Service's images than their text: with other tags and
// digests, which nobody can know before, all is the same but for that text. A patch may be meant for one tag alone, or for all
// but one, by what a replacement copies of it, and a diff shows nothing of that before the tag is set. Names are those of the
// images that are set; empty: all that run.
func CheckImageText(ctx context.Context, s *State, names ...string) error {
	if len(names) == 0 {
		for _, image := range AllImages(s) {
			name, _, _ := kustomize.SplitImage(image)
			names = append(names, name)
		}
	}
	others, texts, err := otherTags(s, names)
	if err != nil || len(others) == 0 {
		return err
	}
	other, err := s.SetImages(ctx, others)
	if err != nil {
		return fmt.Errorf("with another tag or digest of %s: %w", list(names), err)
	}
	different, err := unlike(s, other, texts)
	if err != nil || len(different) == 0 {
		return err
	}
	return fmt.Errorf("overlay %s: with another tag or digest of %s more than its text would be otherwise: %s; take out the patch or the transformer that is meant for one tag alone, or for all but one",
		s.Overlay, list(names), list(different))
}

// otherTags are other images in the place of those that a Service shows by these names, and what each part of them stands for.
func otherTags(s *State, names []string) (others []kustomize.Image, texts []string, err error) {
	entries, err := imageEntries(s)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		entry, there, err := kustomize.Entry(entries, name)
		if err != nil {
			return nil, nil, fmt.Errorf("image %s: %w", name, err)
		}
		if !there {
			entry = kustomize.Image{Name: name}
		}
		i := slices.IndexFunc(AllImages(s), entry.Shows)
		if i < 0 {
			continue // somebody else sets it
		}
		_, tag, digest := kustomize.SplitImage(AllImages(s)[i])
		other := kustomize.Image{Name: name}
		if name == entry.Name {
			other.NewName = entry.NewName
		}
		other.NewTag, texts = otherText(tag, texts)
		other.Digest, texts = otherText(digest, texts)
		if other.NewTag == "" && other.Digest == "" {
			other.NewTag = otherPart("x")
			texts = append(texts, ":"+other.NewTag, "")
		}
		others = append(others, other)
	}
	return others, texts, nil
}

// part is what a replacement may copy of a tag or a digest alone: they have delimiters between.
var part = regexp.MustCompile(`[a-zA-Z0-9]+`)

// otherText is a text of the same form that nobody can know before, and adds what each of its parts stands for.
func otherText(text string, texts []string) (other string, all []string) {
	if hash, is := strings.CutPrefix(text, "sha256:"); is {
		made := strings.ToLower(otherHash())
		return "sha256:" + made, append(texts, made, hash)
	}
	other = part.ReplaceAllStringFunc(text, func(has string) string {
		made := otherPart(has)
		texts = append(texts, made, has)
		return made
	})
	return other, texts
}

// otherHash is what could be the hash of an image.
func otherHash() string {
	var made [32]byte
	_, _ = rand.Read(made[:]) // it never fails
	return fmt.Sprintf("%x", made)
}

// otherPart is a number for a number, which YAML may read as one, and else a word: long enough that nothing else is like it.
func otherPart(has string) string {
	const most = 900_000_000_000
	number, _ := rand.Int(rand.Reader, big.NewInt(most)) // it never fails
	made := number.Add(number, big.NewInt(most/9)).String()
	if strings.Trim(has, "0123456789") == "" {
		return made
	}
	return "x" + made
}

// generated is the name of a ConfigMap or Secret with the hash of its content, as kustomize makes it.
var generated = regexp.MustCompile(`^(.+-)[a-z0-9]{10}$`)

// unlike is what differs in two renders beside texts that stand for others. The names of what is generated follow from its content.
func unlike(s, other *State, texts []string) (different []string, err error) {
	for i, o := range s.objects[:min(len(s.objects), len(other.objects))] {
		name, made := o.text("metadata", "name"), other.objects[i].text("metadata", "name")
		a, b := generated.FindStringSubmatch(name), generated.FindStringSubmatch(made)
		if (o["kind"] == "ConfigMap" || o["kind"] == "Secret") && name != made && a != nil && b != nil && a[1] == b[1] {
			texts = append(texts, made, name)
		}
	}
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
		switch was, now := is[key], would[key]; {
		case was == nil:
			different = append(different, now.id())
		case now == nil:
			different = append(different, was.id())
		default:
			for _, field := range differences("", map[string]any(was), map[string]any(now)) {
				different = append(different, was.id()+" "+field)
			}
		}
	}
	return different, nil
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
