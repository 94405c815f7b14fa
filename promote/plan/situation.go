package plan

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// Situation is what a plan is made from: the overlay at the branch's tip and
// as it would be with the images set, the record in it, and what is live.
type Situation struct {
	Target
	Tip         gitops.Commit
	Tree        fs.FS             // the files at the tip
	Now         *knative.State    // the overlay at the tip
	Next        *knative.State    // the same with the images set
	Images      []kustomize.Image // to set; none: the template as it stands is promoted
	Record      record.Record     // what the overlay says of the promotion before
	Unreadable  error             // why Record could not be read
	Tag         string            // that a candidate has: of the promotion under way, else the run's
	LatestReady string            // live revision that has the traffic where Git names none; empty: none has been ready yet

	Old          *servingv1.Revision // the live revision with the traffic; nil: not seen
	OldReadiness Readiness           // of that one
	NewReadiness Readiness           // of the candidate, where the old one is not Ready
	Unroutable   map[string]string   // revisions of the overlay's targets at 0 % that Knative certainly cannot route to, and why

	App  *v1alpha1.Application // as last seen; nil: not seen
	Live *servingv1.Service    // the Service as last seen live; nil: it was not
}

// Snapshot is the tip with its files.
func (at Situation) Snapshot() gitops.Snapshot {
	return gitops.Snapshot{Commit: at.Tip, Tree: at.Tree}
}

// Split is the traffic at the tip.
func (at Situation) Split() (knative.Split, error) {
	if at.Now.Broken != nil {
		return knative.Split{}, setting.Bad("the record of %s and its traffic are in a file that keeps it from rendering: %w: correct the file", at.Overlay, at.Now.Broken)
	}
	traffic, err := at.Now.Traffic()
	if err != nil {
		return knative.Split{}, err
	}
	gone := knative.TakenOut(at.Now, at.Tag, at.Record.Of(at.Place()).Moving)
	split, err := knative.ReadSplit(knative.Without(at.routable(traffic), gone), at.Tag, knative.MovingTags(at.Now, at.Tag))
	if err != nil {
		return knative.Split{}, fmt.Errorf("overlay %s: %w", at.Overlay, err)
	}
	return split, nil
}

// TakenAway is the revision that the recorded promotion gave traffic to, and that
// somebody has taken all of it from in Git, without a rollback; empty: there is none.
func (at Situation) TakenAway() string {
	split, err := at.Split()
	if err != nil {
		return "" // what is wrong with it is said where it is planned
	}
	return record.TakenAway(at.Record.Of(at.Place()), at.Place(), split)
}

// Holders are the revisions that may have the traffic where nobody has moved it past Git:
// those that the overlay gives it to, the candidate, and those that a promotion or rollback
// that was not seen live goes from and to.
func (at Situation) Holders() []string {
	traffic, _ := at.Now.Traffic() // one that cannot be read is said where it is planned
	if len(traffic) == 0 {
		traffic = []servingv1.TrafficTarget{{Percent: new(int64(100))}}
	}
	var names []string
	for _, t := range traffic {
		if knative.Percent(t) > 0 || t.Tag == at.Tag {
			names = append(names, cmp.Or(t.RevisionName, at.LatestReady))
		}
	}
	if !at.Record.HasPassed() {
		names = append(names, at.Record.From.Revision, at.Record.To.Revision)
	}
	return names
}

// WithRecord is the situation with what its overlay says of the promotion before. A
// candidate keeps its tag until that has ended.
func (at Situation) WithRecord(tag string) Situation {
	at.Record, at.Unreadable = record.Parse(at.Now.Record())
	at.Tag = tag
	if r := at.Record.Of(at.Place()); r.Tag != "" && r.Percent < 100 && !r.RollsBack() {
		at.Tag = r.Tag
	}
	return at
}

// VersionOf is a revision with its images: as it is live, as the record has them,
// or as the overlay has them whose template it is. Where nothing tells, there are
// none.
func (at Situation) VersionOf(revision string) record.Version {
	switch {
	case revision == "":
		return record.Version{}
	case at.Old != nil && at.Old.Name == revision:
		return record.VersionOfLive(at.Old)
	}
	for _, e := range at.Record.Of(at.Place()).Entries() {
		for _, v := range []record.Version{e.To, e.From} {
			if v.Revision == revision {
				return v
			}
		}
	}
	if own := at.Now.Revision(); own == "" || own == revision {
		return record.VersionOf(revision, at.Now)
	}
	return record.Version{Revision: revision}
}

// finishedByHand tells whether somebody has given all traffic in Git to what the recorded
// promotion leads to, past its steps.
func finishedByHand(at Situation, split knative.Split) bool {
	r := at.Record.Of(at.Place())
	return r.Exists() && !r.RollsBack() && r.Percent < 100 && r.To.Revision == split.Stable
}

// leaves is what a rollback leaves: the revision that the overlay names, or the live one of its
// template where somebody has put back the tool's own file alone. That names another one then,
// whose name is taken, so that users still have what the record tells nothing of any more.
func (at Situation) leaves() record.Version {
	named := at.Now.Revision()
	if next, err := at.Now.NextRevision(); err == nil && next != named && next == at.LatestReady {
		return record.VersionOf(next, at.Now)
	}
	return at.VersionOf(named)
}

// routable is an overlay's traffic without the targets that were seen to keep
// Knative from routing.
func (at Situation) routable(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	return slices.DeleteFunc(slices.Clone(traffic), func(t servingv1.TrafficTarget) bool {
		return knative.Percent(t) == 0 && at.Unroutable[t.RevisionName] != ""
	})
}

// OwnCandidate refuses to move a candidate that no promotion put there, or that
// somebody has moved since.
func OwnCandidate(at Situation, split knative.Split) error {
	if !at.Record.Exists() {
		return fmt.Errorf("revision %s has the tag of the candidate, but no record of knative-promote says so: take it out of the traffic in %s first, or choose another candidate-tag",
			split.Candidate, at.Now.Overlay)
	}
	if words := at.Record.Disagreement(at.Place(), split); words != "" {
		return record.Disagrees(at.Now, at.Place(), at.Record, words, split)
	}
	return nil
}

// IsLive tells whether the live Service gives all traffic to what the overlay does.
func (at Situation) IsLive(split knative.Split) bool {
	return at.Live != nil && at.Live.IsReady() && knative.Shares(at.Live.Status.Traffic)[split.Stable] == 100
}

// Remarks are what a run says of a Situation in which the overlay is not quite what was
// expected: another candidate's tag than this one, files that it takes out, a record that is of
// another place, or tags that nobody's file has.
func (at Situation) Remarks(tag string) []string {
	var all []string
	if at.Tag != tag {
		all = append(all, fmt.Sprintf("the candidate's tag is %s, which the promotion under way has, until that has ended; not %s", at.Tag, tag))
	}
	if misfits := at.Now.Misfits; len(misfits) > 0 {
		all = append(all, knative.DescribeMisfits(misfits))
	}
	if of := record.Elsewhere(at.Record, at.Place()); at.Record.Exists() && of != "" {
		all = append(all, fmt.Sprintf("the record in %s is of %s: what was promoted before counts for nothing here, and the next commit begins the record anew; a rollback needs the input to until then",
			at.Now.RecordFile(), of))
	}
	return append(all, at.tagRemarks()...)
}

// tagRemarks are what a run says of people's tags that are in one of an overlay's files alone.
func (at Situation) tagRemarks() (all []string) {
	own, moved := at.Now.RecordFile(), at.Record.Of(at.Place()).Moving
	for _, t := range knative.StrayTags(at.Now, at.Tag) {
		tag := oneline.Brief(t.Tag)
		if slices.Contains(moved, t.Tag) {
			all = append(all, fmt.Sprintf("the tag %s went with the traffic, and is in %s alone now: the next promotion takes it out", tag, own))
			continue
		}
		all = append(all, fmt.Sprintf("the tag %s on revision %s is in %s alone; where nobody needs it, take it out there", tag, oneline.Brief(t.RevisionName), own))
	}
	for _, t := range knative.UnusedTags(at.Now, at.Tag) {
		all = append(all, fmt.Sprintf("the tag %s of the overlay's own traffic is not in %s, which replaces that: add it there, or take it out of the overlay", oneline.Brief(t.Tag), own))
	}
	return all
}
