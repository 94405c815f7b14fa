package knative

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// The letters and digits of what is made up. Words with these letters alone are in no language.
const (
	madeUpLetters = "bcdfghjkmnpqrstvwxz"
	madeUpDigits  = "123456789"
)

// otherPart is a word of so many letters that nobody can know before.
func otherPart(length int) string { return madeUp(madeUpLetters, length) }

// otherHash is what could be the hash of an image.
func otherHash() string {
	var made [32]byte
	_, _ = rand.Read(made[:]) // it never fails
	return fmt.Sprintf("%x", made)
}

func madeUp(of string, length int) string {
	made := make([]byte, length)
	_, _ = rand.Read(made) // it never fails
	for i := range made {
		made[i] = of[int(made[i])%len(of)]
	}
	return string(made)
}

// part is what a replacement may copy of a tag alone, as there are delimiters between. A delimiter may also have the letters that
// it begins with, as ":v" has.
var part = regexp.MustCompile(`([a-zA-Z]*)([a-zA-Z0-9]*)`)

// longestTag is how long a tag may be.
const longestTag = 128

// A madePart is a part of a tag that is made up, as a whole and without the letters that it has in common with what it stands for.
type madePart struct{ whole, made, standsFor string }

// otherTag is a tag of the same form that nobody can know before, with its parts.
func otherTag(tag string) (other string, parts []madePart) {
	count, letters, rest := 0, 0, 0
	for _, text := range part.FindAllString(tag, -1) {
		if text == "" {
			continue
		}
		count++
		letters += len(part.FindStringSubmatch(text)[1])
		rest += len(text)
	}
	if count == 0 {
		return tag, nil
	}
	const most, least = 12, 6
	room := longestTag - (len(tag) - rest) // what is no delimiter
	keeps := (room-letters)/count >= least
	length := min(most, room/count)
	if keeps {
		length = min(most, (room-letters)/count)
	}
	other = part.ReplaceAllStringFunc(tag, func(text string) string {
		if text == "" {
			return ""
		}
		begins, has := "", text
		if keeps {
			two := part.FindStringSubmatch(text)
			begins, has = two[1], two[2]
		}
		of := madeUpLetters
		if strings.Trim(text, "0123456789") == "" {
			of = madeUpDigits // YAML may read it as a number
		}
		made := madeUp(of, length)
		parts = append(parts, madePart{begins + made, made, has})
		return begins + made
	})
	return other, parts
}

// others are what is made up in the place of what a State has, and the State with that.
type others struct {
	state  *State
	images []otherImage
	set    []kustomize.Image // that make them
	unset  []kustomize.Image // those that run and that no entry has set yet, so that other objects may run another tag of the same
	texts  []string          // each that is made up, and what it stands for
}

// An otherImage is made up, as containers show it.
type otherImage struct {
	kustomize.Image
	entry string     // name of the image that is set
	parts []madePart // of its tag
}

// String names the images.
func (o others) String() string {
	var names []string
	for _, image := range o.images {
		names = append(names, image.entry)
	}
	return list(names)
}

// otherTags are other ones for the images of these names.
func otherTags(s *State, names []string) (o others, err error) {
	entries, err := imageEntries(s)
	if err != nil {
		return o, err
	}
	if len(names) == 0 {
		names = namesOf(s, entries)
	}
	for _, name := range names {
		entry, there, err := kustomize.Entry(entries, name)
		if err != nil {
			return o, fmt.Errorf("image %s: %w", name, err)
		}
		if !there {
			entry = kustomize.Image{Name: name}
		}
		if i := slices.IndexFunc(AllImages(s), entry.Shows); i >= 0 { // else somebody else sets it
			o.add(name, entry, AllImages(s)[i])
		}
	}
	return o, nil
}

// namesOf are the names by which the images that run can be set: no run sets an entry of a pattern. Several may show one image.
func namesOf(s *State, entries []kustomize.Image) (names []string) {
	canBeSet := func(name string) bool { _, err := kustomize.ParseImage(name + ":x"); return err == nil }
	images := AllImages(s)
	entries = slices.DeleteFunc(slices.Clone(entries), func(e kustomize.Image) bool { return !canBeSet(e.Name) || !slices.ContainsFunc(images, e.Shows) })
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	for _, image := range images {
		name, _, _ := kustomize.SplitImage(image)
		if canBeSet(name) && !slices.ContainsFunc(entries, func(e kustomize.Image) bool { return e.Shows(image) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// add is another image in the place of one that runs by an entry.
func (o *others) add(name string, entry kustomize.Image, shown string) {
	shownName, tag, digest := kustomize.SplitImage(shown)
	is := kustomize.Image{Name: name, NewTag: tag, Digest: digest}
	if name == entry.Name {
		is.NewName = entry.NewName
	}
	made := otherImage{entry: name}
	made.Name = shownName
	made.NewTag, made.parts = otherTag(tag)
	for _, part := range made.parts {
		o.texts = append(o.texts, part.made, part.standsFor)
	}
	if digest != "" {
		made.Digest = "sha256:" + otherHash()
		o.texts = append(o.texts, made.Digest, digest, strings.TrimPrefix(made.Digest, "sha256:"), strings.TrimPrefix(digest, "sha256:"))
	}
	if tag == "" && digest == "" {
		made.NewTag = otherPart(12)
		o.texts = append(o.texts, ":"+made.NewTag, "")
	}
	set := is
	set.NewTag, set.Digest = made.NewTag, made.Digest
	o.images, o.set = append(o.images, made), append(o.set, set)
	if entry.NewTag == "" && entry.Digest == "" && cmp.Or(tag, digest) != "" {
		o.unset = append(o.unset, is)
	}
}

// marked puts a mark in the place of what is made up: a part of a tag in one form may be the whole of one in another. An image gets the
// name that it had before, as a rollback may bring another.
func (o others) marked(mark string, was others) func(string) string {
	by, several := strings.NewReplacer(o.marks(mark, was)...), regexp.MustCompile(`(?:\b[:@._-]+)?`+mark+`(?:[:@._-]*`+mark+`)*`)
	return func(text string) string {
		return several.ReplaceAllString(strings.ReplaceAll(by.Replace(text), "@sha256", ""), mark) // of a digest that was cut at its colon
	}
}

// marks are what is made up, each with the mark in its place.
func (o others) marks(mark string, was others) (marks []string) {
	for _, image := range o.images {
		if i := slices.IndexFunc(was.images, func(then otherImage) bool { return then.entry == image.entry }); i >= 0 {
			marks = append(marks, image.String(), was.images[i].Name+":"+mark)
		}
		if image.NewTag != "" {
			marks = append(marks, image.NewTag, mark)
		}
		for _, part := range image.parts {
			marks = append(marks, part.whole, mark)
		}
	}
	for i := 0; i < len(o.texts); i += 2 {
		marks = append(marks, o.texts[i], mark)
	}
	return marks
}
