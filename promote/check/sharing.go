package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
)

// findSharing tells what else a promotion of an image moves, and which image it
// may not move for that. Only where that is every image of the Service no
// promotion can ever begin.
func findSharing(f Facts) []event.Finding {
	var found, stops []event.Finding
	settable := 0
	for _, image := range slices.Sorted(maps.Keys(f.ImageEffects)) {
		if f.ImageEffects[image].Err == nil {
			settable++
		}
		moving, running := f.companions(image)
		if len(moving) > 0 {
			found = append(found, f.moves(image, moving))
		}
		if len(running) > 0 && f.ImageEffects[image].Err == nil && f.Refused == nil { // else a promotion says it itself
			stops = append(stops, f.blocks(image, running))
		}
	}
	for i := range stops {
		if len(stops) == settable {
			stops[i].Severity = event.SeverityError
		}
	}
	return append(found, stops...)
}

// companions of an image are those that move with it, and those that keep a
// promotion from it.
func (f Facts) companions(image string) (moving, running []knative.Companion) {
	for _, c := range f.ImageEffects[image].Moves {
		if c.MayMove(f.Request.Also) {
			moving = append(moving, c)
		} else {
			running = append(running, c)
		}
	}
	return moving, running
}

func (f Facts) moves(image string, moving []knative.Companion) event.Finding {
	at := f.inKustomization("images")
	finding := event.Finding{
		Problem:  fmt.Sprintf("image %s is also that of %s", image, names(moving)),
		Effect:   "It moves with the first commit of a promotion, at once and without steps, and back when the promotion is rolled back.",
		Evidence: "With another tag of the image the overlay renders both with it.",
		Fix:      "Nothing, or give the image a name of its own there in the base.",
		File:     at.File, Line: at.Line,
	}
	if once := slices.DeleteFunc(slices.Clone(moving), func(c knative.Companion) bool { return !c.Once }); len(once) > 0 {
		finding.Severity = event.SeverityWarning
		finding.Effect += fmt.Sprintf(" Kubernetes refuses another image in a Job that exists, and the sync fails with it: %s.", names(once))
		finding.Fix = "Make the Job a hook (argocd.argoproj.io/hook: Sync), or let Argo CD replace it (argocd.argoproj.io/sync-options: Force=true,Replace=true)."
	}
	return finding
}

func (f Facts) blocks(image string, running []knative.Companion) event.Finding {
	at := f.inKustomization("images")
	return event.Finding{
		Severity: event.SeverityWarning,
		Problem:  fmt.Sprintf("image %s is also that of %s", image, names(running)),
		Effect:   "What keeps running does not move with a promotion unasked: one that sets this image ends before its first commit.",
		Evidence: "With another tag of the image the overlay renders both with it.",
		Fix: "Give the image a name of its own there in the base, or move the object to another overlay. To let it move with the first commit, " +
			"at once and without steps, name it in the input also:\n" + names(running),
		File: at.File, Line: at.Line,
	}
}

func names(companions []knative.Companion) string {
	var all []string
	for _, c := range companions {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

// findUnsettable warns only: the template can still be promoted as it stands,
// with an image that others set.
func findUnsettable(f Facts) []event.Finding {
	if f.Refused != nil { // a promotion says it itself
		return nil
	}
	var found []event.Finding
	for _, image := range slices.Sorted(maps.Keys(f.ImageEffects)) {
		err := f.ImageEffects[image].Err
		if err == nil {
			continue
		}
		at := f.inKustomization("images")
		found = append(found, event.Finding{
			Problem:  fmt.Sprintf("a promotion cannot set image %s", image),
			Effect:   "One that does ends before its first commit: " + err.Error(),
			Evidence: "Tried with another tag of the image.",
			Fix:      "Correct what it says, or promote the template as it stands, without the input image.",
			File:     at.File, Line: at.Line,
		})
	}
	return found
}
