package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/remote"
)

// longestRace is the longest pause in a race with others, where a place on the
// branch is free again and again: 3 s left the machines idle half of the time
// and some of 32 rivals behind for 8 s.
const longestRace = 800 * time.Millisecond

// Change is one commit to be: what it says and what it does.
type Change struct {
	// Subject is what the message says; it becomes one line.
	Subject string
	// Trailers end the message.
	Trailers []Trailer
	// Edit returns the files that change, path to content; nil content deletes
	// the file, and folders that become empty with it. It depends on the
	// snapshot alone, because it is run again when the branch has moved.
	Edit func(tip Snapshot) (map[string][]byte, error)
	// Made is the commit on a proposal's branch that is this change, and stays there; empty: none.
	Made string
	// Repeats returns what this change is where it has been made on a base before, as by an
	// earlier run: the files, with what may be another's, as who made it and when, taken from the
	// head that stands on a proposal's branch. Where the head is that and nothing else, the
	// change may take its place there, and nothing of anybody's is lost. None: the head is not it.
	Repeats func(tip, base, head Snapshot) (files map[string][]byte, err error)
}

// Publish makes the change one commit on top of the branch's tip, and returns
// it. When another commit gets there first, it runs Edit again on that one; it
// never merges, rebases or forces.
//
// The branch decides whether a push has succeeded, not what the push said. Where
// the answer to a push was lost and another commit is the tip by then, ours may
// be beneath that one or not be there at all. Edit tells, by the content: if it
// makes no difference to the new tip, that shows what the change wanted, and
// Publish returns the tip's commit; if it makes one, that is published. A push
// that the server refused is certainly not on the branch, and does not count.
//
// An error of Edit ends it, as do ErrUnchanged, which Edit may return too,
// ErrRefused, ErrAuth, ErrNotFound and ErrContention.
func (r *Repo) Publish(ctx context.Context, change Change) (Commit, error) {
	m, err := r.message(change)
	if err != nil {
		return Commit{}, err
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(r.PublishTimeout, 5*time.Minute))
	defer cancel()
	for raced, maybe := 0, false; ; {
		made, sent, err := r.publishOnce(limited, change, m)
		if maybe && errors.Is(err, ErrUnchanged) {
			return made, nil
		}
		maybe = maybe || sent
		if errors.Is(err, remote.ErrRaced) {
			raced++
			if raced == cmp.Or(r.PublishAttempts, 60) {
				return Commit{}, contention(r.branch, raced)
			}
			if err = remote.Pause(limited, raced, longestRace); err == nil {
				continue
			}
		}
		if err != nil && raced > 0 && limited.Err() != nil && ctx.Err() == nil {
			return Commit{}, contention(r.branch, raced)
		}
		if err != nil {
			return Commit{}, err
		}
		return made, nil
	}
}

// message is that of a change which can be committed.
func (r *Repo) message(change Change) (message, error) {
	m, err := newMessage(change.Subject, change.Trailers)
	return m, errors.Join(err, r.Author.check("author"), r.Committer.check("committer"))
}

// contention is a branch on which others came first again and again.
func contention(branch plumbing.ReferenceName, raced int) error {
	return fmt.Errorf("publishing to branch %s: %w: other commits came first %d times: run again when fewer are made", branch.Short(), ErrContention, raced)
}

// publishOnce edits the present tip and pushes the result, which may be on the
// branch in spite of an error if maybe is true. It returns remote.ErrRaced if that tip
// has been replaced, and with ErrUnchanged the tip.
func (r *Repo) publishOnce(ctx context.Context, change Change, m message) (made Commit, maybe bool, err error) {
	tip, err := r.tipOf(ctx, r.branch)
	if err != nil {
		return Commit{}, false, err
	}
	files, err := change.Edit(r.snapshot(ctx, tip))
	if err != nil {
		return tip.Commit, false, fmt.Errorf("editing commit %.12s: %w", tip.Hash, err)
	}
	d, err := r.draft(ctx, tip, files, m)
	if err != nil {
		return tip.Commit, false, err
	}
	d.Branch, d.Old = r.branch, tip.hash
	return r.publishDraft(ctx, d, r.snapshot(ctx, tip), files, m)
}

// publishDraft brings a draft into its branch, by a push or by the forge's API.
func (r *Repo) publishDraft(ctx context.Context, d draft, tip Snapshot, files map[string][]byte, m message) (made Commit, maybe bool, err error) {
	if r.API == nil {
		if maybe, err = r.pushUntilSeen(ctx, d); err != nil {
			return Commit{}, maybe, err
		}
		made, err = r.published(d)
		return made, maybe, err
	}
	if err := checkPlain(tip, files); err != nil {
		return Commit{}, false, err
	}
	return r.commitUntilSeen(ctx, d, APICommit{Subject: m.subject, Body: m.body(), Files: files})
}

// published is the commit of a draft that is in its branch.
func (r *Repo) published(d draft) (Commit, error) {
	if err := r.store.KeepCommit(d.parent, d.Commit, d.objects); err != nil {
		return Commit{}, err
	}
	c, err := r.commit(d.Commit)
	return c.Commit, err
}

// draft makes the commit of an edit, for no branch yet.
func (r *Repo) draft(ctx context.Context, old commit, files map[string][]byte, m message) (draft, error) {
	e := &edit{ctx: ctx, store: r.store, commit: old.hash}
	tree, err := e.root(old.tree, files)
	if err != nil {
		return draft{}, fmt.Errorf("editing commit %.12s: %w", old.Hash, err)
	}
	if tree == old.tree {
		return draft{}, ErrUnchanged
	}
	object, err := r.newCommit(tree, old.hash, m)
	if err != nil {
		return draft{}, err
	}
	d := draft{parent: old.hash, tree: tree, objects: append(e.written, object)}
	d.Commit = object.Hash()
	d.Pack, err = encodePack(d.objects)
	return d, err
}

// Message is what the commit of the change says, in two parts: the subject, and
// the rest, which is its trailers.
func (c Change) Message() (subject, body string, err error) {
	m, err := newMessage(c.Subject, c.Trailers)
	if err != nil {
		return "", "", err
	}
	return m.subject, m.body(), nil
}
