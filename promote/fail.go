package promote

import (
	"context"
	"time"
)

// fail decides what a run that cannot go on leaves behind, and leaves that.
func (r *run) fail(ctx context.Context, plan Plan, i int, at Situation, cause error) ending {
	stepLog{r.journal, i}.failed(cause)
	plan.Steps = plan.Steps[:i+1] // what comes after them is not this run's to take back
	switch {
	case isSuperseded(cause), !plan.Restorable():
		return ending{cause: cause}
	case r.cancelled(ctx):
		return r.cancel(ctx, plan, at, cause)
	case !isGate(cause):
		return ending{cause: cause}
	case r.OnFailure == Hold:
		return ending{cause: cause, hold: true}
	}
	return ending{cause: cause, back: true, failed: r.restore(ctx, plan, at, cause)}
}

// cancel stops where the last commit left the traffic, or takes it back with
// one commit that is not waited for: the runner gives ten seconds in all.
func (r *run) cancel(ctx context.Context, plan Plan, at Situation, cause error) ending {
	if r.OnCancel != RollBack {
		return ending{cause: cause}
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	position, _, err := r.takeBack(ctx, plan, at, cause)
	if !r.committed(plan) && (err == nil || isSuperseded(err)) {
		return ending{cause: cause} // the run was cancelled before its first commit
	}
	if err == nil {
		r.announce(ctx, position)
	}
	return ending{cause: cause, back: true, failed: err, atOnce: true}
}

// committed tells whether Git shows any step of the plan.
func (r *run) committed(plan Plan) bool {
	return r.journal.result.Changed || len(plan.Steps) > 0 && plan.Steps[0].Done
}

// announce makes Argo CD look at a commit, and sync it where nobody else does,
// but does not wait until it is live. Without that it would be seen when Argo
// CD polls, which is minutes later.
func (r *run) announce(ctx context.Context, at *Position) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer stop()
	if _, err := r.Cluster.Await(ctx, at.Intent, r.journal.verdicts()); err != nil {
		r.journal.say("not waiting until that is live")
	}
}

// What is left after a cancel for one commit, and for telling Argo CD of it.
const (
	cancelTime   = 5 * time.Second
	announceTime = 2 * time.Second
)
