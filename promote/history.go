package promote

import (
	"context"
	"fmt"
	"time"

	"github.com/acme/knative-promote/gitops"
)

// Entry is one promotion or rollback of the past, as its commits tell.
type Entry struct {
	Promotion string    `json:"promotion"`
	Image     string    `json:"image,omitempty"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to"`
	Steps     []string  `json:"steps"`  // oldest first: candidate, 10, 100, restore, rollback
	Commit    string    `json:"commit"` // the last of its commits
	Started   time.Time `json:"started"`
	Ended     time.Time `json:"ended"`
	Run       string    `json:"run,omitempty"`
	Actor     string    `json:"actor,omitempty"`
	Reason    string    `json:"reason,omitempty"`
}

// Past lists the latest promotions of the Service from the commits' trailers,
// newest first, at most so many.
func (p *Promotion) Past(ctx context.Context, most int) ([]Entry, error) {
	tip, err := p.Branch.Tip(ctx)
	if err != nil {
		return nil, err
	}
	state, err := p.overlay(ctx, tip)
	if err != nil {
		return nil, err
	}
	p.Service = state.Service()
	var entries []Entry
	for commit, err := range p.History.Log(ctx) {
		if err != nil {
			return nil, fmt.Errorf("reading the history: %w", err)
		}
		if !p.ours(commit) {
			continue
		}
		if n := len(entries); n > 0 && entries[n-1].Promotion == commit.Trailer(trailerID) {
			entries[n-1].older(commit)
			continue
		}
		if len(entries) == most {
			break
		}
		entries = append(entries, newest(commit))
	}
	return entries, nil
}

// newest begins an entry with the last commit of a promotion.
func newest(c gitops.Commit) Entry {
	return Entry{
		Promotion: c.Trailer(trailerID), Image: c.Trailer(trailerImage), From: c.Trailer(trailerFrom), To: c.Trailer(trailerTo),
		Steps: []string{c.Trailer(trailerStep)}, Commit: c.Hash, Started: c.Time, Ended: c.Time,
		Run: c.Trailer(trailerRun), Actor: c.Trailer(trailerActor), Reason: c.Trailer(TrailerReason),
	}
}

// older adds an earlier commit. The promotion's own commits say where it led;
// the one that took it back does not.
func (e *Entry) older(c gitops.Commit) {
	e.Steps = append([]string{c.Trailer(trailerStep)}, e.Steps...)
	e.Started = c.Time
	if isStep(c) {
		e.Image, e.From, e.To = c.Trailer(trailerImage), c.Trailer(trailerFrom), c.Trailer(trailerTo)
	}
}
