package promote

import (
	"context"
	"errors"
	"time"

	"github.com/acme/knative-promote/gitops"
)

// closeTime is how long a run tries to write that its last gate has passed.
const closeTime = 30 * time.Second

// closeStep commits that the gates of the last step have passed. The commit
// changes a comment, so there is nothing to sync and nothing to wait for. A run
// that cannot write it has ended well all the same: the next one asks the gates
// again.
func (r *run) closeStep(ctx context.Context, promotion, step string) {
	ctx, stop := context.WithTimeout(ctx, closeTime)
	defer stop()
	now := time.Now()
	commit, err := r.Branch.Publish(ctx, gitops.Change{
		Subject: subject(r.Target, closing(step)),
		Trailers: []gitops.Trailer{
			{Key: trailerID, Value: promotion}, {Key: trailerService, Value: r.Service}, {Key: trailerOverlay, Value: r.Overlay},
			{Key: trailerStep, Value: step}, {Key: trailerPassed, Value: now.UTC().Format(time.RFC3339)},
		},
		Edit: func(tip gitops.Snapshot) (map[string][]byte, error) {
			return editPassed(ctx, r.infra, tip, promotion, step, now)
		},
	})
	switch {
	case err == nil:
		r.journal.closed(commit.Hash, closing(step))
	case !errors.Is(err, gitops.ErrUnchanged):
		r.journal.warn("Git does not say yet that the gates have passed, so a run that is started again asks them again: " + err.Error())
	}
}

// closing is what the closing commit says.
func closing(step string) string {
	switch step {
	case stepRestore, stepRollback:
		return step + " passed"
	case stepOf(0):
		return "candidate at 0 % passed"
	}
	return step + " % passed"
}

// editPassed notes in the record of a step that its gates have passed. Where
// the overlay has come to another step there is nothing to note.
func editPassed(ctx context.Context, infra infra, tip gitops.Snapshot, promotion, step string, now time.Time) (map[string][]byte, error) {
	state, err := infra.read(ctx, tip)
	if err != nil {
		return nil, err
	}
	record, err := parseRecord(state.Record())
	if err != nil {
		return nil, unreadable(state, err)
	}
	if !record.is(promotion, step) || record.passed() {
		return nil, nil
	}
	record.Passed = now
	text, err := record.encode()
	if err != nil {
		return nil, err
	}
	after, err := state.WithRecord(ctx, text)
	if err != nil {
		return nil, err
	}
	return after.Files()
}
