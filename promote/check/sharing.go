package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
)

// findSharing tells what else a promotion of an image moves, and which image it
// may not move for that.
func findSharing(f Facts) []found {
	var all, stops []found
	settable, at := 0, f.inKustomization("images")
	for _, image := range slices.Sorted(maps.Keys(f.ImageEffects)) {
		may := f.ImageEffects[image].Err == nil
		if may {
			settable++
		}
		moving, running := companions(f, image)
		if len(moving) > 0 {
			once := names(slices.DeleteFunc(slices.Clone(moving), func(c knative.Companion) bool { return !c.Once }))
			all = append(all, found{severity: warningIf(once != ""), at: at, values: values{"Image": image, "Names": names(moving), "Once": once, "Blocks": false}})
		}
		if len(running) > 0 && may && f.Refused == nil { // else a promotion says it itself
			stops = append(stops, found{severity: event.SeverityWarning, at: at, values: values{"Image": image, "Names": names(running), "Blocks": true}})
		}
	}
	for i := range stops {
		if len(stops) == settable {
			stops[i].severity = event.SeverityError
		}
	}
	return append(all, stops...)
}

// companions of an image are those that move with it, and those that keep a
// promotion from it.
func companions(f Facts, image string) (moving, running []knative.Companion) {
	for _, c := range f.ImageEffects[image].Moves {
		if c.MayMove(f.Request.Also) {
			moving = append(moving, c)
		} else {
			running = append(running, c)
		}
	}
	return moving, running
}

func names(companions []knative.Companion) string {
	var all []string
	for _, c := range companions {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

func findUnsettable(f Facts) []found {
	if f.Refused != nil { // a promotion says it itself
		return nil
	}
	var all []found
	for _, image := range slices.Sorted(maps.Keys(f.ImageEffects)) {
		if err := f.ImageEffects[image].Err; err != nil {
			all = append(all, found{at: f.inKustomization("images"), values: values{"Image": image, "Why": err}})
		}
	}
	return all
}
