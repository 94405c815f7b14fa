package record

import (
	"fmt"

	"github.com/acme/knative-promote/gitops/knative"
)

// Disagreement says in words what the traffic of the overlay shows otherwise
// than the record; empty where they agree.
func (r Record) Disagreement(place Place, split knative.Split) string {
	want := knative.Split{Stable: r.From.Revision, Candidate: r.To.Revision, Percent: r.Percent}
	switch elsewhere := Elsewhere(r, place); {
	case elsewhere != "":
		return "is of " + elsewhere
	case r.Step == Restore:
		want.Candidate = ""
	case r.Percent == 100:
		want = knative.Split{Stable: r.To.Revision}
	}
	if split.Stable == want.Stable && split.Candidate == want.Candidate && split.Percent == want.Percent {
		return ""
	}
	return fmt.Sprintf("says that %s has %s", knative.OrLatest(want.Stable), shares(want))
}

// shares are the percentages of a split in words.
func shares(split knative.Split) string {
	if split.Candidate == "" {
		return "all traffic"
	}
	return fmt.Sprintf("%d %% of the traffic, and %s as candidate %d %%", 100-split.Percent, split.Candidate, split.Percent)
}

// An ElsewhereError refuses what a record would decide that was not written for the place
// that it stands in. Only a person knows whether the folder was moved, so that what it says is
// of this Service, or copied.
type ElsewhereError struct {
	Before string // the revision that had all traffic before, as that record says; empty: it names none
	text   string
}

func (e *ElsewhereError) Error() string { return e.text }

// Disagrees is the error of a record that the traffic beside it contradicts.
func Disagrees(state *knative.State, place Place, record Record, words string, split knative.Split) error {
	if Elsewhere(record, place) != "" {
		candidate, before := "", before(record, place, split)
		if split.Candidate != "" {
			candidate = fmt.Sprintf(", and the candidate %s out of the traffic", split.Candidate)
		}
		text := fmt.Sprintf("the record in %s %s; it came here with a copy, a merge or a move: ", state.RecordFile(), words)
		if before != "" {
			text += fmt.Sprintf("where it was moved, roll back to %s, which had all traffic before as that record says, with the input to; or ", before)
		}
		return &ElsewhereError{Before: before, text: text + "take the record out of it (the comment lines below # Written by knative-promote)" + candidate}
	}
	return fmt.Errorf("the record in %s %s, but there %s has %s: make the traffic what the record says, or take the candidate out of the traffic and the record out of the file (the comment lines below # Written by knative-promote)",
		state.RecordFile(), words, knative.OrLatest(split.Stable), shares(split))
}

// before is what a record would have a rollback lead to, whatever folder it was written for;
// empty: nothing, or the traffic beside it is not what it says. One of another branch came with
// a merge, and tells of what this branch may never have had.
func before(r Record, here Place, split knative.Split) string {
	if r.Branch != here.Branch || r.Disagreement(Place{Repository: r.Repository, Branch: r.Branch, Overlay: r.Overlay}, split) != "" {
		return ""
	}
	if split.Candidate != "" {
		return r.RestoredBy(r.Promotion, Entry{From: r.From}).From.Revision
	}
	if all, _ := Earlier(r.Entries(), r.Cut, split.Stable); len(all) > 0 {
		return all[0].From.Revision
	}
	return ""
}

// Unreadable is the error of a record that is not one.
func Unreadable(state *knative.State, cause error) error {
	return fmt.Errorf("the record in %s cannot be read: %w: put the file back as a commit before has it, or take the record out of it (the comment lines below # Written by knative-promote), which forgets what was promoted before",
		state.RecordFile(), cause)
}
