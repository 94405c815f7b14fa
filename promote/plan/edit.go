package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/record"
)

// EditStep is the i-th step on a tip: the files that change, none where the tip
// shows it and renders. It is run again when the branch has moved: the tip must show the
// step before, or this one already.
//
// Wanted is the step's traffic with what people have added to the tip's at 0 %, whether Knative can route it or not.
func (p Plan) EditStep(ctx context.Context, c Settings, i int, tip gitops.Snapshot, live *servingv1.Service) (files map[string][]byte, wanted []servingv1.TrafficTarget, err error) {
	now, err := ToEdit(ctx, tip, p.Target)
	if err != nil {
		return nil, nil, err
	}
	next, err := WithImages(ctx, now, p.images)
	if err != nil {
		return nil, nil, err
	}
	has, err := record.Parse(now.Record())
	if err != nil {
		return nil, nil, Superseded(tip.Commit, "%w", record.Unreadable(now, err))
	}
	done, err := fits(now, next, has, p, i, tip.Commit)
	if err != nil {
		return nil, nil, err
	}
	if done {
		files, err = now.Files()
		return files, nil, err
	}
	step := p.Steps[i]
	text, err := StepRecord(c, p, record.StepOf(step.Percent), has).Encode()
	if err != nil {
		return nil, nil, err
	}
	wanted = p.keeping(step.Traffic, now, has)
	after, err := Shift(ctx, c, p, p.routed(wanted, step.Traffic), text, now, next, live)
	if err != nil {
		return nil, nil, err
	}
	files, err = after.Files()
	return files, wanted, err
}

// Shift gives an overlay with the images set the new revision's name, the traffic
// and the record, and checks that nothing else changes. A target at 0 % that a later patch adds too
// stays that patch's.
func Shift(ctx context.Context, c Settings, plan Plan, traffic []servingv1.TrafficTarget, record []byte, now, next *knative.State, live *servingv1.Service) (*knative.State, error) {
	if err := knative.CheckOwn(now); err != nil {
		return nil, unusable{err}
	}
	after, err := next.Route(ctx, plan.To, traffic, record, live)
	if err != nil {
		return nil, err
	}
	after, rendered, err := leftToLater(ctx, after, plan.To, traffic, live)
	if err != nil {
		return nil, err
	}
	if knative.SameTargets(rendered, traffic) {
		traffic = rendered
	}
	if err := knative.Check(now, after, knative.Expected{Images: plan.images, Also: c.Also, Revision: plan.To, Traffic: traffic}); err != nil {
		return nil, err
	}
	if err := checkText(ctx, plan, now, after); err != nil {
		return nil, unusable{err}
	}
	return after, nil
}

// checkText wants what a step sets to change no more than itself and text that follows it.
func checkText(ctx context.Context, plan Plan, now, after *knative.State) error {
	var names []string
	for _, image := range plan.images {
		names = append(names, image.Name)
	}
	if slices.Equal(knative.AllImages(now), knative.AllImages(after)) {
		return knative.CheckText(ctx, after, names...)
	}
	return knative.CheckTextOf(ctx, now, after, names...)
}

// Try makes the first and the last edit that are left to do, in memory, and
// checks them. It returns what they lead to, nothing where all is done. The steps
// between differ from the first one in two numbers. Also where all is done the tool's own files
// must be the tool's: what else is in the template there would be judged as if it were promoted.
func (p Plan) Try(ctx context.Context, c Settings, at Situation) ([]*knative.State, error) {
	if err := knative.CheckOwn(at.Now); err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(p.Steps), func(c PlannedStep) bool { return c.Done })
	if len(left) > 2 {
		left = []PlannedStep{left[0], left[len(left)-1]}
	}
	var planned []*knative.State
	state, next := at.Now, at.Next
	for _, step := range left {
		after, err := Shift(ctx, c, p, step.Traffic, nil, state, next, at.Live)
		if err != nil {
			return nil, err
		}
		state, next = after, after
		planned = append(planned, after)
	}
	return planned, cmp.Or(refuseLink(at.Target, at.Now), refuseLinks(at, planned), tryRestore(ctx, p, at.Now, planned))
}

// tryRestore tries the restore of a first promotion: no diff has, as no record names where that leads to.
func tryRestore(ctx context.Context, p Plan, now *knative.State, planned []*knative.State) error {
	if len(planned) == 0 || p.From == "" || p.Record.Exists() {
		return nil
	}
	from := knative.Version{Revision: p.From, Images: now.Images(), InitImages: now.InitImages()}
	return knative.CheckReversals(ctx, planned[0], from, p.Tag)
}

// refuseLink is an error where the overlay is reached by a symbolic link: no window and no guard
// knows it by that name, and what is written is another overlay, perhaps of another environment.
func refuseLink(target Target, state *knative.State) error {
	if path.Clean(target.Overlay) == state.Overlay {
		return nil
	}
	return fmt.Errorf("overlay %s leads by a symbolic link to %s, as which windows and the pipeline file know it: set path to that, here and in the Application", target.Overlay, state.Overlay)
}

// refuseLinks is an error where a commit would have to write through a symbolic link.
func refuseLinks(at Situation, planned []*knative.State) error {
	for _, after := range planned {
		files, err := after.Files()
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := knative.NoLink(at.Tree, name); err != nil {
				return fmt.Errorf("overlay %s: %w", after.Overlay, err)
			}
		}
	}
	return nil
}

// fits tells whether a tip shows the i-th step already. It must show that or
// the step before, by the record and by the fields, else somebody else has
// changed it and theirs stays.
func fits(now, next *knative.State, record record.Record, plan Plan, i int, tip gitops.Commit) (done bool, err error) {
	name, err := next.NextRevision()
	if err != nil {
		return false, err
	}
	same := now.SameTemplate(next)
	before := i == 0 && now.SameTemplate(plan.Now) && ShownAt(plan.Now).routedBy(now) && record.Is(plan.Record.Promotion, plan.Record.Step) ||
		i > 0 && plan.Expected(plan.Steps[i-1]).ShownBy(now, record)
	switch {
	case name != plan.To:
		return false, Superseded(tip, "the template of %s changed to %s while %s was promoted", now.Service(), name, plan.To)
	case same && plan.Expected(plan.Steps[i]).reachedBy(now, record):
		return true, nil
	case i > 0 && !same:
		return false, Superseded(tip, "the overlay now has the images %s", strings.Join(knative.AllImages(now), ", "))
	case !before && !same && record.Promotion == plan.ID: // no run of it leaves that
		return false, Superseded(tip, "the overlay now has the images %s, and the record of this promotion beside them", strings.Join(knative.AllImages(now), ", "))
	case !before && record.Promotion == plan.ID:
		return false, Superseded(tip, "another run of the same promotion is ahead, with %s", DescribeTraffic(now))
	case !before:
		return false, Superseded(tip, "the overlay now has revision %s with %s", OrGenerated(now.Revision()), DescribeTraffic(now))
	}
	return false, nil
}

// DescribeTraffic is an overlay's traffic in words.
func DescribeTraffic(state *knative.State) string {
	traffic, err := state.Traffic()
	if err != nil {
		return "traffic that cannot be read"
	}
	return knative.Describe(traffic)
}

// Shows tells whether an overlay has this revision and traffic.
func Shows(state *knative.State, revision string, traffic []servingv1.TrafficTarget) bool {
	has, err := state.Traffic()
	return err == nil && state.Revision() == revision && knative.SameTraffic(has, traffic)
}

// Unchanged tells whether an overlay is as it was when the plan was made.
func Unchanged(now, then *knative.State) bool {
	traffic, err := then.Traffic()
	return err == nil && now.SameTemplate(then) && Shows(now, then.Revision(), traffic)
}

// SameShares tells whether two overlays give each revision the same share.
func SameShares(a, b *knative.State) bool {
	one, err := a.Traffic()
	other, unread := b.Traffic()
	return err == nil && unread == nil && maps.Equal(knative.Shares(one), knative.Shares(other))
}

// OnlyConfigured tells whether nothing of an overlay has changed since the plan was made, but
// for the template beside its images, and what people have added to the traffic at 0 %.
func OnlyConfigured(now, then *knative.State) bool {
	has, _ := record.Parse(then.Record()) // without one all of the images must be the same
	return ShownAt(then).routedBy(now) && record.VersionOf("", then).KeptBy(now, has.From)
}

// ErrSuperseded ends a run whose Service somebody else has changed: a newer
// promotion, or a person. Their change stays.
var ErrSuperseded = errors.New("superseded")

// Superseded is [ErrSuperseded] by a commit, and how that shows.
func Superseded(by gitops.Commit, format string, args ...any) error {
	return fmt.Errorf("%w by commit %.10s (%s): %w", ErrSuperseded, by.Hash, by.Subject, fmt.Errorf(format, args...))
}

// OrGenerated is a revision's name, or says that Knative gives it one.
func OrGenerated(revision string) string {
	if revision == "" {
		return "(generated)"
	}
	return revision
}

// Withdrawn tells whether an overlay cannot be read because a commit has it no more, or
// has no more the Service in it.
func Withdrawn(at gitops.Snapshot, overlay string, err error) bool {
	if err == nil {
		return false
	}
	_, gone := fs.Stat(at.Tree, overlay)
	return errors.Is(gone, fs.ErrNotExist) || errors.Is(err, knative.ErrNoService)
}

// ToEdit is the overlay at a tip that is to be edited. What somebody has taken out is
// theirs; what does not render may render again, and what became a link may be a folder again.
func ToEdit(ctx context.Context, tip gitops.Snapshot, target Target) (*knative.State, error) {
	state, err := knative.Read(ctx, tip.Tree, target.Overlay, target.Service)
	return toEdit(ctx, tip, target, state, err)
}

// toEdit is an overlay as it was read, where it is one to edit.
func toEdit(ctx context.Context, tip gitops.Snapshot, target Target, state *knative.State, err error) (*knative.State, error) {
	switch {
	case Withdrawn(tip, target.Overlay, err):
		return nil, Superseded(tip.Commit, "Service %s is not in %s any more", target.Service, target.Overlay)
	case err != nil && ctx.Err() == nil:
		return nil, unusable{err}
	case err != nil:
		return nil, err
	}
	if err := refuseLink(target, state); err != nil {
		return nil, unusable{err}
	}
	return state, nil
}

// WithImages is an overlay with the images set, or as it is when none are given.
func WithImages(ctx context.Context, now *knative.State, images []kustomize.Image) (*knative.State, error) {
	if len(images) == 0 {
		return now, nil
	}
	return now.SetImages(ctx, images)
}
