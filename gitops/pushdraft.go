package gitops

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// readBackTimeout bounds the look at the branch after the context has ended.
const readBackTimeout = 3 * time.Second

// pushUntilSeen pushes a draft until the branch shows it, or has gone elsewhere:
// then it returns errRaced. Whatever a push says, the branch decides: an answer
// may be lost, go-git takes an empty answer for success, and a lost race has no
// error of its own. The draft may be beneath the branch's tip if maybe is true:
// it was sent, and the server did not say no.
func (r *Repo) pushUntilSeen(ctx context.Context, d draft) (maybe bool, err error) {
	for t := r.remote.tries(); ; {
		sent, pushed := r.remote.push(ctx, d.update)
		maybe = maybe || sent && !isRefusal(pushed)
		seen := absent
		if sent || maybe {
			if seen, err = r.readBack(ctx, d); err != nil {
				return maybe, d.unknown(err)
			}
		}
		switch {
		case seen == shown:
			r.remote.tookPush()
			return maybe, nil
		case seen == passed && maybe && ctx.Err() != nil:
			return maybe, d.unknown(context.Cause(ctx))
		case r.remote.isFinal(pushed):
			return maybe, refused(pushed)
		case seen == passed || errors.Is(pushed, errRaced):
			return maybe, errRaced
		case !t.again(ctx, pushed):
			return maybe, r.notTaken(refused(pushed))
		}
	}
}

// unknown is a draft of which the caller must know that the branch may have it.
func (d draft) unknown(err error) error {
	return fmt.Errorf("commit %s was sent, but whether the branch has it is not known: %w", d.commit, err)
}

func (r *Repo) notTaken(pushed error) error {
	if pushed == nil {
		return fmt.Errorf("pushing to %s: the server answered, but the branch has not changed", r.remote)
	}
	return pushed
}

// draftState is what the branch shows of a draft.
type draftState int

const (
	absent draftState = iota // the branch is where it was
	shown                    // the draft is the branch's tip
	passed                   // the branch went elsewhere: the draft can no longer be published
)

// readBack looks where the branch is. It does so also when the context has
// ended, as the caller must know what it leaves behind.
func (r *Repo) readBack(ctx context.Context, d draft) (draftState, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
		defer cancel()
	}
	tip, err := r.objects.where(ctx, d.branch)
	switch {
	case err != nil:
		return absent, err
	case tip.IsZero() && !d.old.IsZero():
		return absent, r.remote.noBranch(d.branch, nil, true)
	case tip == d.old:
		return absent, nil
	case tip == d.commit:
		return shown, nil
	}
	return passed, nil
}

// keepPublished keeps the objects of a draft that is in the branch.
func (o *objects) keepPublished(d draft) (Commit, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, written := range d.objects {
		content, err := readObject(written)
		if err != nil {
			return Commit{}, err
		}
		o.keep(written.Hash(), stored{written.Type(), content})
	}
	if o.whole[d.parent] {
		o.whole[d.commit] = true
	}
	c, err := o.commit(d.commit)
	return c.Commit, err
}
