package proposal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/facts"
)

// servicesOf are the Services to ask about: those that an overlay has before or after, or
// none, with an empty name, for what is the overlay's own.
func servicesOf(before, after []byte) ([]string, error) {
	services, err := knative.Services(after)
	if err != nil {
		return nil, err
	}
	if len(services) == 0 {
		services = []string{""}
	}
	gone, err := knative.Services(before)
	services = append(services, gone...)
	slices.Sort(services)
	return slices.Compact(services), err
}

// gone tells whether an overlay does not have the Service.
func gone(is *knative.State) bool { return errors.Is(knative.Unusable(is), knative.ErrNoService) }

// unusable is why no run could edit a Service any more that runs could edit before. One
// that is taken out is nobody's to edit. Whether its files take edits is asked only where runs
// edit them, also of a Service that is new there. The error is of reading the repository.
func (p Proposal) unusable(was, is *knative.State) (why, err error) {
	edited, err := p.isEdited(was, is)
	if err != nil || gone(is) {
		return nil, err
	}
	before, after := knative.Unusable(was), knative.Unusable(is)
	if edited && after == nil {
		after = knative.TryEdits(is)
	}
	if edited && before == nil {
		before = knative.TryEdits(was)
	}
	if before != nil && !(edited && gone(was)) {
		return nil, nil
	}
	return after, nil
}

// isEdited tells whether runs edit an overlay, before or after: one has done so already, or the
// pipeline file has it.
func (p Proposal) isEdited(was, is *knative.State) (bool, error) {
	if was.Owned() || is.Owned() {
		return true, nil
	}
	for _, at := range []gitops.Snapshot{p.base, p.head} {
		file, err := facts.PipelineOf(at, p.settings.Guards.Keys)
		if err != nil {
			return false, fmt.Errorf("at commit %.10s: %w", at.Commit.Hash, err)
		}
		if rules, err := file.File.Of(is.Overlay, is.Service()); err == nil && rules.Known() {
			return true, nil
		}
	}
	return false, nil
}
