package commit

import (
	"fmt"
	"io/fs"
	"maps"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/review"
)

// An Edit is what a commit changes for one target.
type Edit struct {
	Proposal *review.Proposal                              // of the pull request that it comes by; nil: it is pushed
	Repeats  func(tip, head gitops.Snapshot) (bool, error) // whether a proposal that is there has its record; nil: none has
	Subject  string
	Trailers []gitops.Trailer
	Draft    func(tip gitops.Snapshot) (Draft, error) // which is asked of commits too that nothing is made on
}

// A Draft is what an edit makes of a tip.
type Draft struct {
	Files    map[string][]byte         // none where the tip shows it
	Traffic  []servingv1.TrafficTarget // of a step: what it sets
	Wanted   []servingv1.TrafficTarget // of a step: with what people have added at 0 %, routable or not
	Reversed plan.Edited               // of what rolls back: what it leads to
	Left     error                     // why the target is left out, where the others go on without it
}

// Merge makes one change of the edits of several targets, and passes on what they make
// of each tip. The subject names the first; the trailers of each begin with its
// promotion's.
func Merge(edits []Edit, drafted func(tip gitops.Snapshot, drafts []Draft)) gitops.Change {
	change := gitops.Change{Subject: edits[0].Subject}
	if others := len(edits) - 1; others > 0 {
		change.Subject += fmt.Sprintf(", and %d more", others)
	}
	for _, e := range edits {
		change.Trailers = append(change.Trailers, e.Trailers...)
	}
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		drafts, err := draft(edits, tip)
		if err != nil {
			return nil, err
		}
		drafted(tip, drafts)
		return filesOf(drafts)
	}
	change.Repeats = func(tip, base, head gitops.Snapshot) (map[string][]byte, error) {
		for _, e := range edits {
			if e.Repeats == nil {
				return nil, nil
			}
			if same, err := e.Repeats(tip, head); err != nil || !same {
				return nil, err
			}
		}
		return repeated(edits, base, head)
	}
	return change
}

// repeated are the files that the edits make of a base, with the records that a head has.
func repeated(edits []Edit, base, head gitops.Snapshot) (map[string][]byte, error) {
	drafts, err := draft(edits, base)
	if err != nil {
		return nil, err
	}
	files, err := filesOf(drafts)
	for name, want := range files {
		if has, err := fs.ReadFile(head.Tree, name); err == nil && knative.SameRoute(want, has) {
			files[name] = has
		}
	}
	return files, err
}

// draft is what each of the edits makes of a tip.
func draft(edits []Edit, tip gitops.Snapshot) (drafts []Draft, err error) {
	for _, e := range edits {
		d, err := e.Draft(tip)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}

// filesOf are those that drafts change, each one that the others do not.
func filesOf(drafts []Draft) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, d := range drafts {
		for name := range d.Files {
			if _, twice := all[name]; twice {
				return nil, fmt.Errorf("%s is changed for two targets: expected files of their own", name)
			}
		}
		maps.Copy(all, d.Files)
	}
	return all, nil
}
