package promote

import (
	"fmt"

	"github.com/acme/knative-promote/gitops/knative"
)

// disagreement says in words what the traffic of the overlay shows otherwise
// than the record; empty where they agree.
func (r Record) disagreement(target Target, split knative.Split) string {
	want := knative.Split{Stable: r.From.Revision, Candidate: r.To.Revision, Percent: r.Percent}
	switch elsewhere := r.elsewhere(target); {
	case elsewhere != "":
		return "is of " + elsewhere
	case r.Step == stepRestore:
		want.Candidate = ""
	case r.Percent == 100:
		want = knative.Split{Stable: r.To.Revision}
	}
	if split.Stable == want.Stable && split.Candidate == want.Candidate && split.Percent == want.Percent {
		return ""
	}
	return fmt.Sprintf("says that %s has %s", orLatest(want.Stable), shares(want))
}

// shares are the percentages of a split in words.
func shares(split knative.Split) string {
	if split.Candidate == "" {
		return "all traffic"
	}
	return fmt.Sprintf("%d %% of the traffic, and %s as candidate %d %%", 100-split.Percent, split.Candidate, split.Percent)
}

// ownCandidate refuses to move a candidate that no promotion put there, or that
// somebody has moved since.
func ownCandidate(at Situation, split knative.Split) error {
	if !at.Record.exists() {
		return fmt.Errorf("revision %s has the tag of the candidate, but no record of knative-promote says so: take it out of the traffic in %s first, or choose another candidate-tag",
			split.Candidate, at.Now.Overlay)
	}
	if words := at.Record.disagreement(at.Target, split); words != "" {
		return disagrees(at.Now, at.Target, at.Record, words, split)
	}
	return nil
}

// disagrees is the error of a record that the traffic beside it contradicts.
func disagrees(state *knative.State, target Target, record Record, words string, split knative.Split) error {
	if record.elsewhere(target) != "" {
		return fmt.Errorf("the record in %s %s; it came here with a copy, a merge or a move: take the record out of it (the comment lines below # Written by knative-promote)", state.RecordFile(), words)
	}
	return fmt.Errorf("the record in %s %s, but there %s has %s: make the traffic what the record says, or take the candidate out of the traffic and the record out of the file (the comment lines below # Written by knative-promote)",
		state.RecordFile(), words, orLatest(split.Stable), shares(split))
}

// unreadable is the error of a record that is not one.
func unreadable(state *knative.State, cause error) error {
	return fmt.Errorf("the record in %s cannot be read: %w: put the file back as a commit before has it, or take the record out of it (the comment lines below # Written by knative-promote), which forgets what was promoted before",
		state.RecordFile(), cause)
}
