package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/record"
)

// askChecks asks for the statuses of the commit that was live, and whether the record's is that, where checks are wanted.
func (s *Observed) askChecks(ctx context.Context, by Reader, source overlay.Reader) (err error) {
	if len(by.Checks) == 0 || s.Record.Commit == "" {
		return nil
	}
	if s.claimed, err = claimed(ctx, source, s.Record); err != nil {
		return err
	}
	s.states, err = by.Statuses.States(ctx, s.Record.Commit)
	return err
}

// unchecked is which of the checks has no success on the commit that was live.
func (s Observed) unchecked(checks []string) string {
	if len(checks) > 0 && s.Record.Commit == "" {
		return "its record does not name the commit whose statuses checks asks for; the next promotion there writes it"
	}
	if len(checks) > 0 && s.claimed != "" {
		return s.claimed
	}
	for _, name := range checks {
		switch state := s.states[name]; state {
		case "success":
		case "":
			return fmt.Sprintf("commit %.10s has no status %s", s.Record.Commit, name)
		default:
			return fmt.Sprintf("the status %s of commit %.10s is %s", name, s.Record.Commit, oneline.Of(state, record.WordLimit))
		}
	}
	return ""
}

// claimed is what is wrong with the commit that a record says its promotion was live at;
// empty: nothing. Whoever may push to the source can name another one, whose statuses are
// better.
func claimed(ctx context.Context, source overlay.Reader, r record.Record) (string, error) {
	then, err := source.At(ctx, r.Commit)
	switch {
	case errors.Is(err, remote.ErrNotFound):
		return fmt.Sprintf("commit %.10s, whose statuses checks asks for, is gone", r.Commit), nil
	case err != nil:
		return "", err
	}
	if was, err := record.Parse(then.Record()); err != nil || !was.Is(r.Promotion, r.Step) || was.To.Revision != r.To.Revision {
		return fmt.Sprintf("its record names commit %.10s, whose statuses checks asks for, and that has not what the record is of", r.Commit), nil
	}
	return "", nil
}
