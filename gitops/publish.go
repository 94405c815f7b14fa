package gitops

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Change is one commit to be: what it says and what it does.
type Change struct {
	// Subject and Body are the message; the subject becomes one line.
	Subject, Body string
	// Trailers end the message.
	Trailers []Trailer
	// Edit returns the files that change, path to content; nil content deletes
	// the file, and folders that become empty with it. It depends on the
	// snapshot alone, because it is run again when the branch has moved.
	Edit func(tip Snapshot) (map[string][]byte, error)
}

// Publish makes the change one commit on top of the branch's tip. When another
// commit gets there first, it runs Edit again on that one; it never merges,
// rebases or forces. It has succeeded only when the server shows the commit in
// the branch, whatever the push said, and so makes one commit even if an answer
// is lost.
//
// An error of Edit ends it, as do ErrUnchanged, ErrRefused, ErrAuth,
// ErrNotFound and ErrContention.
func (r *Repo) Publish(ctx context.Context, change Change) (Commit, error) {
	m, err := newMessage(change.Subject, change.Body, change.Trailers)
	if err = errors.Join(err, r.Author.check("author"), r.Committer.check("committer")); err != nil {
		return Commit{}, err
	}
	limit := cmp.Or(r.PublishTimeout, 5*time.Minute)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for raced := 0; ; {
		made, err := r.publishOnce(limited, change, m)
		if errors.Is(err, errRaced) {
			raced++
			if raced == cmp.Or(r.PublishAttempts, 60) {
				return Commit{}, r.contention(raced)
			}
			if err = pause(limited, raced, longestRace); err == nil {
				continue
			}
		}
		if err != nil && raced > 0 && limited.Err() != nil && ctx.Err() == nil {
			return Commit{}, r.contention(raced)
		}
		return made, err
	}
}

func (r *Repo) contention(raced int) error {
	return fmt.Errorf("publishing to branch %s: %w: other commits came first %d times: run again when fewer are made", r.branch.Short(), ErrContention, raced)
}

// publishOnce edits the present tip and pushes the result. It returns errRaced
// if that tip has been replaced.
func (r *Repo) publishOnce(ctx context.Context, change Change, m message) (Commit, error) {
	tip, err := r.Tip(ctx)
	if err != nil {
		return Commit{}, err
	}
	files, err := change.Edit(tip)
	if err != nil {
		return Commit{}, fmt.Errorf("editing commit %.12s: %w", tip.Commit.Hash, err)
	}
	d, err := r.draft(ctx, tip, files, m)
	if err != nil {
		return Commit{}, err
	}
	if err := r.land(ctx, d); err != nil {
		return Commit{}, err
	}
	return r.objects.landed(d)
}

// draft is a commit that is not in the branch yet.
type draft struct {
	old, commit plumbing.Hash
	objects     []plumbing.EncodedObject
	pack        []byte
}

func (r *Repo) draft(ctx context.Context, tip Snapshot, files map[string][]byte, m message) (draft, error) {
	old, err := r.objects.commit(plumbing.NewHash(tip.Commit.Hash))
	if err != nil {
		return draft{}, err
	}
	e := &edit{ctx: ctx, objects: r.objects, commit: old.hash}
	tree, err := e.root(old.tree, files)
	if err != nil {
		return draft{}, fmt.Errorf("editing commit %.12s: %w", old.Hash, err)
	}
	if tree == old.tree {
		return draft{}, ErrUnchanged
	}
	object, err := newCommit(tree, old.hash, r.Author, r.Committer, r.now(), m)
	if err != nil {
		return draft{}, err
	}
	d := draft{old: old.hash, commit: object.Hash(), objects: append(e.written, object)}
	d.pack, err = encodePack(d.objects)
	return d, err
}

func (r *Repo) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func encodePack(objects []plumbing.EncodedObject) ([]byte, error) {
	store := memory.NewStorage()
	var names []plumbing.Hash
	for _, o := range objects {
		name, err := store.SetEncodedObject(o)
		if err != nil {
			return nil, fmt.Errorf("writing the pack: %w", err)
		}
		names = append(names, name)
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, store, false).Encode(names, 0); err != nil {
		return nil, fmt.Errorf("writing the pack: %w", err)
	}
	return pack.Bytes(), nil
}
