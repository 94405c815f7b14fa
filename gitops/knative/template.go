package knative

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// checkTemplate wants the images that are set to change no more of the template than themselves and text that has parts of them.
// A patch may be meant for one tag alone, by what a replacement copies of it: a diff shows nothing of that before the tag is set.
func checkTemplate(before, after *State, expected Expected) error {
	if len(expected.Images) == 0 || expected.Follows {
		return nil
	}
	set, err := entriesSet(after, expected.Images)
	if err != nil {
		return err
	}
	was, is := AllImages(before), AllImages(after)
	others := slices.DeleteFunc(differences("", map[string]any(before.plain), map[string]any(after.plain)), func(field string) bool {
		then, _ := before.plain.value(field)
		now, _ := after.plain.value(field)
		a, wasText := then.(string)
		b, isText := now.(string)
		switch {
		case !below(field, []string{"/spec/template"}):
			return true
		case !wasText || !isText:
			return false
		case slices.Contains(is, b) && strings.HasSuffix(field, "/image"):
			return slices.ContainsFunc(set, func(entry kustomize.Image) bool { return entry.Shows(b) })
		}
		return follows(a, b, was, is)
	})
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("the images would change more of Service %s than themselves: %s; is a patch or a transformer meant for one tag alone?", after.name, list(others))
}

// entriesSet are the entries of images: that have been set.
func entriesSet(s *State, images []kustomize.Image) (set []kustomize.Image, err error) {
	entries, err := imageEntries(s)
	if err != nil {
		return nil, err
	}
	for _, image := range images {
		if entry, there, err := kustomize.Entry(entries, image.Name); err == nil && there {
			set = append(set, entry)
		}
	}
	return set, nil
}

// hashed is a name with the hash of its content, as kustomize makes those of ConfigMaps and Secrets.
var hashed = regexp.MustCompile(`^(.+)-[a-z0-9]{10}$`)

// follows tells whether a text has become another one as images have: each has a part of an image where they differ, or
// parts of them in several places, or is the name of what another object has of them.
func follows(a, b string, was, is []string) bool {
	if one, other := hashed.FindStringSubmatch(a), hashed.FindStringSubmatch(b); one != nil && other != nil && one[1] == other[1] {
		return true
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	restA, restB := a[n:], b[n:]
	for len(restA) > 0 && len(restB) > 0 && restA[len(restA)-1] == restB[len(restB)-1] {
		restA, restB = restA[:len(restA)-1], restB[:len(restB)-1]
	}
	part := func(text string, images []string) bool {
		return slices.ContainsFunc(images, func(image string) bool { return strings.Contains(image, text) })
	}
	return part(restA, was) && part(restB, is) || renamed(was, is).Replace(a) == b
}

// renamed puts what images are now in the place of what they were: as a whole, by their names, digests and tags.
func renamed(was, is []string) *strings.Replacer {
	var pairs []string
	for i := range min(len(was), len(is)) {
		name, tag, digest := kustomize.SplitImage(was[i])
		nameNow, tagNow, digestNow := kustomize.SplitImage(is[i])
		for _, pair := range [][2]string{{was[i], is[i]}, {name, nameNow}, {digest, digestNow}, {tag, tagNow}} {
			if pair[0] != "" && pair[0] != pair[1] {
				pairs = append(pairs, pair[0], pair[1])
			}
		}
	}
	return strings.NewReplacer(pairs...)
}
