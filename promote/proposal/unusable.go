package proposal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/record"
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
// edit them, also of a Service that is new there.
func (p Proposal) unusable(ctx context.Context, was, is *knative.State) error {
	if gone(is) {
		return nil
	}
	edited, isNew := p.isEdited(was, is), gone(was)
	before, after := knative.Unusable(was), knative.Unusable(is)
	switch {
	case before != nil && !(edited && isNew):
		return nil
	case after != nil, !edited:
		return after
	}
	with := p.trial(is)
	tried, earlier := knative.TryEdits(ctx, is, with), make(knative.Tried, 1)
	if tried.Failed() && !isNew {
		earlier = knative.TryEdits(ctx, was, with)
	}
	if err := tried.Beside(earlier); err != nil || isNew || tried.Failed() {
		return err
	}
	return pinned(ctx, p, is.Overlay, is.Service())
}

// pinned is why an image that runs could set is one that no run can set any more, as where a replacement sets it after them. One that
// has another name since may be any of those that there were.
func pinned(ctx context.Context, p Proposal, overlay, service string) error {
	now, err := imageEffects(ctx, p.head, overlay, service)
	fails := func(e knative.ImageEffect) bool { return e.Err != nil }
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Values(now)), fails) {
		return err
	}
	then, err := imageEffects(ctx, p.base, overlay, service)
	if err != nil {
		return err
	}
	failed := slices.ContainsFunc(slices.Collect(maps.Values(then)), fails)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if had, there := then[name]; fails(now[name]) && !fails(had) && (there || !failed) {
			return fmt.Errorf("tried with another tag of %s: %w", name, now[name].Err)
		}
	}
	return nil
}

// imageEffects are those of a commit, read as a run does.
func imageEffects(ctx context.Context, at gitops.Snapshot, overlay, service string) (map[string]knative.ImageEffect, error) {
	state, err := knative.Read(ctx, at.Tree, overlay, service)
	if err != nil {
		return nil, err
	}
	return knative.ImageEffects(ctx, state)
}

// trial is what the edits of an overlay are tried with: the tags that the input, the pipeline file and the record name,
// and the versions of the record.
func (p Proposal) trial(s *knative.State) knative.Trial {
	with := knative.Trial{Tags: []string{p.settings.CandidateTag}}
	for _, said := range p.is.File.Said("candidate-tag") {
		with.Tags = append(with.Tags, said.Text)
	}
	has, err := record.Parse(s.Record())
	if err == nil && has.Exists() {
		with.Tags = append(with.Tags, has.Tag)
		for _, e := range has.Entries() {
			for _, v := range []record.Version{e.To, e.From} {
				if v.Revision != "" {
					with.Versions = append(with.Versions, knative.Version{Revision: v.Revision, Images: v.Images, InitImages: v.InitImages})
				}
			}
		}
	}
	slices.SortFunc(with.Versions, func(a, b knative.Version) int {
		return cmp.Or(strings.Compare(a.Revision, b.Revision), slices.Compare(a.Images, b.Images), slices.Compare(a.InitImages, b.InitImages))
	})
	with.Versions = slices.CompactFunc(with.Versions, func(a, b knative.Version) bool {
		return a.Revision == b.Revision && slices.Equal(a.Images, b.Images) && slices.Equal(a.InitImages, b.InitImages)
	})
	slices.Sort(with.Tags)
	with.Tags = slices.DeleteFunc(slices.Compact(with.Tags), func(tag string) bool { return tag == "" })
	return with
}

// isEdited tells whether runs edit an overlay, before or after: one has done so already, or the
// pipeline file has it.
func (p Proposal) isEdited(was, is *knative.State) bool {
	return was.Owned() || is.Owned() || slices.ContainsFunc([]pipeline.File{p.was.File, p.is.File}, func(file pipeline.File) bool {
		rules, err := file.Of(is.Overlay, is.Service())
		return err == nil && rules.Known()
	})
}
