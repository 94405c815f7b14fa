package knative

import (
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// An occupant is a container of a template, or an init container, and what it runs.
type occupant struct {
	name  string // as people have written it; empty: they have not, or it is not known
	image string
	init  bool
}

// containersOf are those of an overlay, init containers last.
func containersOf(s *State) []occupant {
	all := recorded(s.Images(), s.InitImages())
	var names []string
	for _, list := range []string{"containers", "initContainers"} {
		written, _ := s.plain.at("spec", "template", "spec", list).([]any)
		for _, c := range written {
			fields, _ := c.(map[string]any)
			name, _ := fields["name"].(string)
			names = append(names, name)
		}
	}
	for i := range min(len(all), len(names)) {
		all[i].name = names[i]
	}
	return all
}

// Pairs tells which container of another overlay each one of an overlay is, init containers
// last: its index, or -1 where that has none. The error says of which one nobody can tell.
func Pairs(is, there *State) ([]int, error) { return pair(containersOf(is), containersOf(there), true) }

// recorded are containers of which no more is known than what they run.
func recorded(images, initImages []string) (all []occupant) {
	for _, image := range images {
		all = append(all, occupant{image: image})
	}
	for _, image := range initImages {
		all = append(all, occupant{image: image, init: true})
	}
	return all
}

// pair tells which container of an earlier version each one is: its index, or -1 where it
// was not there. They belong together by their names, where those are known of both, then
// by the names of their images, and where there is one alone. The error says of which
// one nobody can tell.
func pair(is, then []occupant, named bool) ([]int, error) {
	pairs, taken := slices.Repeat([]int{-1}, len(is)), make([]bool, len(then))
	paired := func(i int) bool { return pairs[i] >= 0 }
	isTaken := func(i int) bool { return taken[i] }
	for _, same := range []func(a, b occupant) bool{
		func(a, b occupant) bool { return named && a.name == b.name },
		func(a, b occupant) bool { return nameOf(a.image) == nameOf(b.image) },
		func(a, b occupant) bool { return count(is, a.init) == 1 && count(then, b.init) == 1 },
	} {
		for i, c := range is {
			other := theOne(then, isTaken, func(o occupant) bool { return o.init == c.init && same(c, o) })
			if other < 0 || theOne(is, paired, func(o occupant) bool { return o.init == c.init && same(o, then[other]) }) != i {
				continue
			}
			pairs[i], taken[other] = other, true
		}
	}
	for i, c := range is {
		if paired(i) {
			continue
		}
		if i < len(then) && !taken[i] && then[i].init == c.init && nameOf(then[i].image) == nameOf(c.image) {
			pairs[i], taken[i] = i, true // several run one image, in the order that they had
			continue
		}
		for other, o := range then {
			if !taken[other] && o.init == c.init && (o.name == "" || c.name == "") {
				return nil, fmt.Errorf("whether the container that runs %s is the one that ran %s cannot be told", c.image, o.image)
			}
		}
	}
	return pairs, nil
}

// theOne is the index of the one container for which something holds and that is not taken;
// -1: none is, or several are.
func theOne(all []occupant, taken func(int) bool, holds func(occupant) bool) int {
	found := -1
	for i, c := range all {
		if taken(i) || !holds(c) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func count(all []occupant, init bool) (n int) {
	for _, c := range all {
		if c.init == init {
			n++
		}
	}
	return n
}

func nameOf(image string) string {
	name, _, _ := kustomize.SplitImage(image)
	return name
}
