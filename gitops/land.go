package gitops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// readBackTimeout bounds the look at the branch after the context has ended.
const readBackTimeout = 3 * time.Second

// land pushes a draft until the branch shows it, or shows that it never will.
// Whatever a push says, the branch decides: an answer may be lost, go-git takes
// an empty answer for success, and a lost race has no error of its own.
func (r *Repo) land(ctx context.Context, d draft) error {
	for t := r.remote.tries(); ; {
		sent, pushed := r.remote.push(ctx, r.branch, d)
		seen := absent
		if sent {
			var err error
			if seen, err = r.readBack(ctx, d); err != nil {
				return fmt.Errorf("commit %s was sent, but whether the branch has it is not known: %w", d.commit, err)
			}
		}
		switch {
		case seen == landed:
			r.remote.taken.Store(true)
			return nil
		case r.remote.final(pushed):
			return refused(pushed)
		case seen == passed || errors.Is(pushed, errRaced):
			return errRaced
		case !t.again(ctx, isAway(pushed)):
			return r.notTaken(refused(pushed))
		}
	}
}

// final tells whether another push of the same commit would be idle.
func (r *remote) final(pushed error) bool {
	if no, ok := errors.AsType[*refusal](pushed); ok {
		return no.final()
	}
	return !r.taken.Load() && (errors.Is(pushed, ErrAuth) || errors.Is(pushed, ErrNotFound))
}

// refused gives a no of the server its name.
func refused(pushed error) error {
	if no, ok := errors.AsType[*refusal](pushed); ok {
		return fmt.Errorf("%s: %w: %s: let the token's owner push to the branch, or change the rule", no.where, ErrRefused, strings.TrimSuffix(no.reason, "."))
	}
	return pushed
}

func (r *Repo) notTaken(pushed error) error {
	if pushed == nil {
		return fmt.Errorf("pushing to %s: the server answered, but the branch has not changed", clean(r.remote.address))
	}
	return pushed
}

// sight is what the branch shows of a draft.
type sight int

const (
	absent sight = iota // the branch is where it was
	landed              // the branch has the draft
	passed              // the branch went elsewhere; the draft can never land
)

// readBack looks whether a draft is in the branch. It does so also when the
// context has ended, as the caller must know what it leaves behind.
func (r *Repo) readBack(ctx context.Context, d draft) (sight, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
		defer cancel()
	}
	tip, err := r.objects.where(ctx, r.branch)
	if err != nil {
		return absent, err
	}
	switch tip {
	case d.old:
		return absent, nil
	case d.commit:
		return landed, nil
	}
	// Every way from the tip to the draft avoids the draft's parent.
	found, err := r.objects.walk(tip, d.old).reaches(ctx, d.commit)
	if err != nil || !found {
		return passed, err
	}
	return landed, nil
}

// landed keeps the objects of a draft that is in the branch.
func (o *objects) landed(d draft) (Commit, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, object := range d.objects {
		if err := o.keep(object); err != nil {
			return Commit{}, err
		}
	}
	if o.whole[d.old] {
		o.whole[d.commit] = true
	}
	c, err := o.readCommit(d.commit)
	return c.Commit, err
}
