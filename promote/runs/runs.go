// Package runs tells workflow runs by their addresses: which of two is older, and whether
// others have moved a Service since a run was there, so that it must not go on.
package runs

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Superseded ends a workflow run after a newer one has promoted or rolled back, or
// after somebody else has come after this run's own: a job that waited for an approval, or a
// run that is started again. What came before that does not count, nor what gave users nothing since this run's own.
// Named says that it was told by name where to roll back to, which is a decision of its own.
func Superseded(at plan.Situation, run string, named bool) error {
	if run == "" {
		return nil
	}
	var since, newer record.Entry // of whom nobody can tell whether their run is older; and who gave users nothing
	for i, e := range at.Record.Of(at.Place()).Entries() {
		older, known := olderRun(e.Run, run)
		if i == 0 && at.Record.Pull != 0 && !at.Record.HasBegun() {
			known = false // who merged it says so, and no run
		}
		switch {
		case e.Run == run && since.Promotion != "":
			return sinceThen("has moved the service to %s%s", since.To.Revision, without(since.Run))
		case e.Run == run && i == 0 && !named && !e.Rollback && e.Ended != record.RolledBack && !e.To.KeptBy(at.Now, e.From):
			return sinceThen("has given the service other images")
		case e.Run == run && i == 0 && !named && at.TakenAway() != "":
			return sinceThen("has taken the traffic from %s in Git", e.To.Revision)
		case e.Run == run && newer.Promotion != "" && e.Ended != record.Promoted:
			return olderThan(newer) // which has taken its traffic away
		case e.Run == run:
			return nil
		case known && !older && e.GaveNothing() && newer.Promotion == "":
			newer = e
		case known && !older && !e.GaveNothing():
			return olderThan(e)
		case !known && since.Promotion == "":
			since = e
		}
	}
	if newer.Promotion != "" {
		return olderThan(newer)
	}
	return nil
}

// olderThan ends a run after a newer one.
func olderThan(e record.Entry) error {
	has := "has moved the service to"
	if e.GaveNothing() {
		has = "has tried"
	}
	return fmt.Errorf("%w: this run is older than %s, which %s %s: start a new run instead", plan.ErrSuperseded, e.Run, has, e.To.Revision)
}

// without says in words where there was no workflow run.
func without(run string) string {
	if run == "" {
		return " without a workflow run"
	}
	return ""
}

// sinceThen is the error of what somebody has done since a workflow run was there last.
func sinceThen(what string, args ...any) error {
	return fmt.Errorf("%w: since this run was there last, somebody %s: start a new run instead", plan.ErrSuperseded, fmt.Sprintf(what, args...))
}

// Commits are the infra repository's commits, by their full hashes.
type Commits interface {
	At(ctx context.Context, commit string) (gitops.Snapshot, error)
	// Behind are the commits behind one whose messages have a trailer, the newest first, with
	// the values that they give a key. The zero Trailer: all.
	Behind(ctx context.Context, commit string, trailer gitops.Trailer, key string) ([]gitops.Message, error)
}

// LastTakenOut is the newest promotion that Argo CD has deployed and Git shows no more, where
// Argo CD has deployed what came after it since a time, or has not yet. Where its history does not reach so far, or what it was
// to sync to since is not in it, as that has failed, or it does not answer, the branch tells. A promotion without an id is none.
func LastTakenOut(ctx context.Context, commits Commits, at plan.Situation, since time.Time) record.Record {
	now := at.Record.Of(at.Place())
	reaches := false
	for d := range deployedSince(ctx, commits, at, deployedWith(now)) {
		if !d.record.RollsBack() && !goesOn(now, d.record) {
			return d.record
		}
		if reaches = d.at.Before(since); reaches {
			break
		}
	}
	if at.Unreadable != nil || reaches && !failedSince(at, since) {
		return record.Record{}
	}
	return takenOffTheBranch(ctx, commits, at, now, since.Add(-time.Hour))
}

// deployedWith is the commit that a record's promotion was live at; empty: all count, as what was rolled back since has commits
// of its own.
func deployedWith(now record.Record) string {
	if now.RollsBack() {
		return ""
	}
	return now.Commit
}

// failedSince tells whether Argo CD has tried to sync since a time to what it has not deployed.
func failedSince(at plan.Situation, since time.Time) bool {
	tried, began := argo.Tried(at.Target.Target, at.App)
	return tried != "" && !began.Before(since) && !slices.Contains(argo.Deployed(at.Target.Target, at.App), tried)
}

// A deployed record is what a commit says that Argo CD has deployed.
type deployed struct {
	record record.Record
	at     time.Time
}

// deployedSince are the records of what Argo CD has deployed since a commit, the newest first, as
// far as they can be read; without one, of all.
func deployedSince(ctx context.Context, commits Commits, at plan.Situation, from string) iter.Seq[deployed] {
	return func(yield func(deployed) bool) {
		if at.App == nil || at.Unreadable != nil {
			return
		}
		revisions := argo.Deployed(at.Target.Target, at.App)
		for _, commit := range slices.Compact(argo.DeployedSince(revisions, from)) {
			then, err := commits.At(ctx, commit)
			if err != nil {
				continue // it is gone, or nobody can tell
			}
			if !yield(deployed{plan.RecordAt(then, at.Target), argo.DeployedAt(at.Target.Target, at.App, commit)}) {
				return
			}
		}
	}
}

// goesOn tells whether a record has the promotion of another one, also without a workflow run.
func goesOn(now, r record.Record) bool {
	return r.Promotion == "" || record.Position(now, r.Promotion) >= 0
}

// runAddress is that of a workflow run, or of a pipeline of GitLab: the server and the
// number, which grows over all repositories of a server.
var runAddress = regexp.MustCompile(`^(https?://[^/]+)/.+/(?:actions/runs|-/pipelines)/([0-9]{1,18})(?:/|$)`)

// olderRun tells whether a workflow run was started before another one, or is that one. It
// is not known of runs of two servers, and of what was done without one.
func olderRun(run, than string) (older, known bool) {
	a, b := runAddress.FindStringSubmatch(run), runAddress.FindStringSubmatch(than)
	if a == nil || b == nil || a[1] != b[1] {
		return false, false
	}
	x, errX := strconv.ParseInt(a[2], 10, 64)
	y, errY := strconv.ParseInt(b[2], 10, 64)
	return x <= y, errX == nil && errY == nil
}

// Newer tells whether a workflow run is known to be started after another one.
func Newer(run, than string) bool {
	older, known := olderRun(run, than)
	return known && !older
}

// MayPrecede tells whether a workflow run is that one or was started before it, or nobody says
// that there was one.
func MayPrecede(run, this string) bool {
	older, known := olderRun(run, this)
	return run == "" || run == this || known && older
}
