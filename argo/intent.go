package argo

import (
	"context"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// An Intent is what shall be live.
type Intent struct {
	Target
	Commit string // the full hash
	// Revision is the template's name; empty when Knative generates it.
	Revision string
	// Images of the template's containers, in their order; none: not compared.
	Images []string
	// InitImages are those of its init containers, in their order; none: not compared.
	InitImages []string
	// Traffic as the rendered Service has it; none is Knative's default, all to the
	// latest ready revision.
	Traffic []servingv1.TrafficTarget
	// TrafficOnly is for an emergency in which the template cannot be rolled back: live is
	// when the traffic goes where it should, whatever the template is and whether or not
	// its own revision is ready.
	TrafficOnly bool
	// Automated says that Argo CD has synced the Application by itself when the run began: where it does not any more, what moves
	// users on is not synced.
	Automated bool
	// Restores is for what was there before. Its revision has been ready, so it is
	// awaited past Knative's progress deadline; and where auto-sync does nothing, it is
	// synced also while a sync window is closed that permits syncs by hand.
	Restores bool
	// Alone says of one that restores that the traffic alone may be tried too: a sync that has
	// failed twice before it has applied the Service is not waited for until it is given up, where
	// the Service cannot be synced alone.
	Alone bool
	// Carries tells whether revision, which Argo CD compared and which is not Commit,
	// still carries our values. False means superseded. For one that Argo CD shows
	// until it sees the commit it returns ErrBehind. Where Argo CD could compare none,
	// revision is empty, and the branch's tip is meant. Nil: any other revision is awaited
	// to become Commit.
	Carries func(ctx context.Context, revision string) (bool, error)
	// Own tells whether revision, which Argo CD has deployed, is of the same promotion. Nil:
	// nobody asks whether somebody has rolled back from it.
	Own func(ctx context.Context, revision string) (bool, error)
	// Gives is the traffic that revision, which Argo CD has deployed or compared, says; ErrNotFound where
	// it says none that can be read. Nil: nobody asks whether the cluster is still so, or as a commit on
	// top of ours says.
	Gives func(ctx context.Context, revision string) ([]servingv1.TrafficTarget, error)
	// Brings is what a sync brings back, where Argo CD has deployed the revision from and, after
	// it, an older one again, to: what is in from as the commit has it, and otherwise in to;
	// ErrNotFound where one of those cannot be read. Nil: nobody asks.
	Brings func(ctx context.Context, from, to string) (Brought, error)
	// Over are the revisions that users may be moved from. None: whatever they have.
	Over []string
	// RollsBack tells whether revision, an older one, is of what the intent rolls back. Await
	// terminates a sync of it, which may wait for a hook that never ends. Nil: none is.
	RollsBack func(ctx context.Context, revision string) (bool, error)
}

// Brought is what somebody has rolled back in Argo CD, and a sync brings back.
type Brought struct {
	Service bool     // its template, or the images of that
	Beside  []string // other objects, as Kind/name
}

// A CommitState is where a commit is on its way to be live.
type CommitState int

// A commit's states. Only Wait is not final.
const (
	Wait CommitState = iota
	Live
	Failed
	Superseded
)

func (s CommitState) String() string {
	return [...]string{"wait", "live", "failed", "superseded"}[s]
}

// A Verdict is a state and its reason in words.
type Verdict struct {
	State  CommitState
	Reason string // one line
	// Trouble names what is wrong in a Wait that may still pass, and is empty when
	// there is only something to wait for.
	Trouble string
	// Unapplied tells of a Failed that Argo CD has not applied the Service.
	Unapplied bool
	// Intended tells of a Wait that the live Service is as intended all the same: Argo CD
	// alone cannot compare it with Git. No trouble of that kind is a failure.
	Intended bool
}

// Observed is what one observation saw. What it could not see yet is nil.
type Observed struct {
	App      *v1alpha1.Application
	Service  *servingv1.Service
	Revision *servingv1.Revision // the one the intent names, or the template's
	// Relation of the compared revision to the intent's commit.
	Relation Relation
	// Shown is the traffic of the compared revision, where that is another which carries the
	// intent's values.
	Shown []servingv1.TrafficTarget
	// RolledBack is whether the running operation syncs what the intent rolls back.
	RolledBack bool
	// Moved is what a sync would undo; see [Moved].
	Moved Move
	// Operation is how the revision of a running operation relates to it, where that is
	// not the compared revision.
	Operation Relation
	// Earlier is whether the last operation had ended when the wait began: what made it fail
	// may be over, and Argo CD does not sync a commit again by itself that it has tried.
	Earlier bool
	// Alone is what a sync of all failed at or waited for, before it came to the Service, where
	// Await has had the Service synced alone; empty: it has not.
	Alone string
	// Barred is why Argo CD does not let Await do that; empty: it does, or was not asked.
	Barred string
}

// A Memory is what a wait knows from before an observation. The zero value is that of
// a first look.
type Memory struct {
	// UID that the Application had when the wait began; empty: any.
	UID types.UID
	// Trouble of the verdict before, and for how long it has lasted without a break.
	Trouble    string
	TroubleFor time.Duration
	// Note is what Await found when it tried to help, such as a missing permission.
	Note string
}

// recreated tells whether the Application is another than the one the wait began with.
func (m Memory) recreated(in Intent, ob Observed) bool {
	return m.UID != "" && ob.App != nil && ob.App.UID != m.UID && checkApplication(in.App, ob.App) == nil
}

// A Relation says how the revision that Argo CD compared relates to the commit.
type Relation int

// Relations of the compared revision to the commit.
const (
	Unknown   Relation = iota // nobody could tell yet
	Same                      // it is the commit
	Carrying                  // another that carries the same values
	Behind                    // older: Argo CD has not seen the commit
	Displaced                 // without our values, as the branch is now
)

// ours tells whether the compared revision has the intent's values.
func (r Relation) ours() bool { return r == Same || r == Carrying }
