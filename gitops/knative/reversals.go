package knative

import (
	"context"
	"fmt"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// CheckReversals wants that a rollback to a version can be made, in each way that it may, and that it changes no more than its text,
// as [CheckText] wants it.
func CheckReversals(ctx context.Context, s *State, to Version, candidateTags ...string) error {
	made, err := withOthers(ctx, s, nil)
	if err != nil {
		return err
	}
	if err := tryReversal(ctx, s, made, to, candidateTags); err != nil {
		return fmt.Errorf("tried with a rollback to %s: %w", to.Revision, err)
	}
	return nil
}

// tryReversal gives a revision all traffic in each way that a rollback may.
func tryReversal(ctx context.Context, s *State, made others, to Version, candidateTags []string) error {
	all, err := reversals(ctx, s, to)
	if err != nil {
		return err
	}
	beside := besides(s, candidateTags)
	for _, r := range all {
		for _, split := range beside {
			split.Stable = r.carries
			if err := made.tryTraffic(ctx, s, r, split.Targets("", false)); err != nil {
				return err
			}
		}
	}
	return nil
}

// besides are what may stand at 0 % beside the revision with all traffic: what people have and what is kept as previous,
// each where Knative can route to it.
func besides(s *State, candidateTags []string) []Split {
	all := []Split{{}}
	if with := peoples(s, candidateTags...); len(with.Foreign)+len(with.Moving) > 0 {
		all = append(all, with)
	}
	if previous := previousOf(s); previous != "" {
		for _, split := range slices.Clone(all) {
			split.Previous = previous
			all = append(all, split)
		}
	}
	return all
}

// tryTraffic makes a reversal with this traffic.
func (o others) tryTraffic(ctx context.Context, s *State, r reversal, traffic []servingv1.TrafficTarget) error {
	after, expected, err := tryRoute(ctx, r.state, r.revision, traffic, "")
	if err != nil {
		return err
	}
	if err := checkRoute(r.state, after, expected); err != nil {
		return err
	}
	return o.check(ctx, s, after, nil)
}

// previousOf is the revision that is kept at 0 % as previous; empty: there is none.
func previousOf(s *State) string {
	traffic, _ := s.Traffic()
	for _, t := range traffic {
		if t.Tag == PreviousTag {
			return t.RevisionName
		}
	}
	return ""
}

// peoples are the targets at 0 % that people have, which runs keep.
func peoples(s *State, candidateTags ...string) Split {
	traffic, err := s.Traffic()
	if err != nil {
		return Split{}
	}
	return takeForeign(Without(traffic, candidateTags), "", MovingTags(s, ""))
}

// A reversal is a template, its name and the revision with all traffic.
type reversal struct {
	state             *State
	revision, carries string
}

// reversals are those that a rollback may make. The template gets the images, by the names that they have now and as a rollback sets them
// where that leads to others, and the revision's name, or the one that a promotion would give it where it is another one than the
// revision's, which may be gone. Where the template cannot be rolled back, as with another container since, the traffic alone is.
func reversals(ctx context.Context, s *State, to Version) ([]reversal, error) {
	is := AllImages(s)
	var set []kustomize.Image
	for _, image := range slices.Concat(to.Images, to.InitImages) {
		name, tag, digest := kustomize.SplitImage(image)
		if !slices.Contains(is, image) && slices.ContainsFunc(is, kustomize.Image{Name: name}.Shows) {
			set = append(set, kustomize.Image{Name: name, NewTag: tag, Digest: digest})
		}
	}
	var templates []*State
	next, err := s.SetImages(ctx, set)
	if err == nil {
		templates = append(templates, next)
	}
	back, wrong := Restored(ctx, s, nil, to.Images, to.InitImages)
	if wrong == nil && (err != nil || !slices.Equal(AllImages(back), AllImages(next))) {
		templates = append(templates, back)
	}
	var all []reversal
	for _, t := range templates {
		name, err := t.NextRevision()
		if err != nil {
			return nil, err
		}
		all = append(all, reversal{t, to.Revision, to.Revision}, reversal{t, name, to.Revision}, reversal{t, name, name})
	}
	name, err := s.NextRevision()
	if err == nil && s.Revision() != "" {
		all = append(all, reversal{s, s.Revision(), to.Revision}, reversal{s, name, to.Revision})
	}
	return slices.Compact(all), err
}
