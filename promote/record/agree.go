package record

import (
	"fmt"

	"github.com/acme/knative-promote/gitops/knative"
)

// Disagreement says in words what the traffic of the overlay shows otherwise
// than the record; empty where they agree.
func (r Record) Disagreement(place Place, split knative.Split) string {
	want := knative.Split{Stable: r.From.Revision, Candidate: r.To.Revision, Percent: r.Percent}
	switch elsewhere := isElsewhere(r, place); {
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

// Disagrees is the error of a record that the traffic beside it contradicts.
func Disagrees(state *knative.State, place Place, record Record, words string, split knative.Split) error {
	if isElsewhere(record, place) != "" {
		candidate := ""
		if split.Candidate != "" {
			candidate = fmt.Sprintf(", and the candidate %s out of the traffic", split.Candidate)
		}
		return fmt.Errorf("the record in %s %s; it came here with a copy, a merge or a move: take the record out of it (the comment lines below # Written by knative-promote)%s", state.RecordFile(), words, candidate)
	}
	return fmt.Errorf("the record in %s %s, but there %s has %s: make the traffic what the record says, or take the candidate out of the traffic and the record out of the file (the comment lines below # Written by knative-promote)",
		state.RecordFile(), words, knative.OrLatest(split.Stable), shares(split))
}

// Unreadable is the error of a record that is not one.
func Unreadable(state *knative.State, cause error) error {
	return fmt.Errorf("the record in %s cannot be read: %w: put the file back as a commit before has it, or take the record out of it (the comment lines below # Written by knative-promote), which forgets what was promoted before",
		state.RecordFile(), cause)
}
