// Package promotetest holds a history of the infra repository to what the
// program promises of its commits. The scripts, the simulation and the
// scenarios all ask it.
package promotetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops/knative"
)

// A Commit is one of the infra repository's, with all its files.
type Commit struct {
	Hash, Subject string
	Parents       []string // hashes, the first parent first
	Trailers      map[string]string
	Others        []map[string]string // trailers of other promotions that the commit is of too
	Files         fstest.MapFS
}

// isClosing tells whether a commit says that a step's gates have passed.
func (c Commit) isClosing() bool { return c.Trailers["Promotion-Passed"] != "" }

// step is what the commit is part of, also where it was made once more.
func (c Commit) step() string { return strings.TrimSuffix(c.Trailers["Promotion-Step"], "-again") }

// History is the infra repository's branch, and what its commits must be true
// to.
type History struct {
	Service, Overlay string

	// Commits are all, parents before their children. Some may be in the
	// branch no more.
	Commits []Commit
	// Shared tells that other Services are promoted there too.
	Shared bool
	// Reviewed tells that commits come by pull requests, which a forge may bring
	// in by a merge commit.
	Reviewed bool
	// Foreign are commits of others that must be there.
	Foreign []string
	// Ready are, by commit, the revisions that had been ready when it was
	// pushed; nil where nobody looked.
	Ready map[string][]string
	// Down are, by commit, the revisions that were gone or not Ready when it was
	// pushed, of those that anything was known of.
	Down map[string][]string
}

// Check says which promises the program's own commits break. The number is that
// of the commits that were checked.
func (h History) Check(ctx context.Context) (own int, err error) {
	j := judge{h, map[string]Commit{}}
	var broken []error
	for _, c := range h.Commits {
		c = j.ours(c)
		j.byHash[c.Hash] = c
		if !j.isOwn(c) {
			broken = append(broken, about(c, j.foreignTraffic(c)))
			continue
		}
		own++
		broken = append(broken, about(c, j.check(ctx, c)))
	}
	for _, hash := range h.Foreign {
		if _, there := j.byHash[hash]; !there {
			broken = append(broken, fmt.Errorf("the foreign commit %s is not in the branch any more", hash))
		}
	}
	return own, errors.Join(broken...)
}

// about is an error of a commit; nil stays nil.
func about(c Commit, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("commit %.10s (%s): %w", c.Hash, c.Subject, err)
}

// A judge goes through a history, oldest commit first.
type judge struct {
	History
	byHash map[string]Commit // those so far
}

// ours is a commit with the trailers of this Service's promotion, of those that it
// has.
func (j judge) ours(c Commit) Commit {
	for n, other := range c.Others {
		if other["Promotion-Service"] == j.Service && other["Promotion-Overlay"] == j.Overlay {
			others := slices.Clone(c.Others)
			others[n] = c.Trailers
			c.Trailers, c.Others = other, others
			return c
		}
	}
	return c
}

// isOwn tells whether the program made a commit for this Service. What people
// merge, squash and write is theirs, and may be what they like.
func (j judge) isOwn(c Commit) bool {
	id, service, overlay := c.Trailers["Promotion"], c.Trailers["Promotion-Service"], c.Trailers["Promotion-Overlay"]
	return len(id) > 2 && (!j.Shared || service == j.Service && overlay == j.Overlay)
}

// check checks one of the program's commits.
func (j judge) check(ctx context.Context, c Commit) error {
	if merged := j.Reviewed && len(c.Parents) == 2; len(c.Parents) != 1 && !merged {
		return fmt.Errorf("it has %d parents", len(c.Parents))
	}
	before, known := j.byHash[c.Parents[0]]
	if !known {
		return fmt.Errorf("its parent %s is not in the branch", c.Parents[0])
	}
	broken := []error{j.onlyStep(c), j.keptImages(before, c), j.onlyDeclared(before, c), j.notFrozen(before, c), j.traffic(ctx, c), j.recordFollows(ctx, before, c)}
	if c.isClosing() {
		broken = append(broken, j.onlyComments(before, c))
	}
	for name, want := range map[string]string{"Promotion-Service": j.Service, "Promotion-Overlay": j.Overlay} {
		if got := c.Trailers[name]; got != want && !strings.Contains(got, "***") { // a secret's place
			broken = append(broken, fmt.Errorf("its trailer %s is %q, not %q", name, got, want))
		}
	}
	return errors.Join(broken...)
}

// onlyStep tells whether a commit before is the same step of the promotion, and
// nobody has changed the overlay's own file since.
func (j judge) onlyStep(c Commit) error {
	if c.Trailers["Promotion-Step"] == "" {
		return errors.New("it has no trailer Promotion-Step")
	}
	for _, other := range j.promotion(c, j.changesOwnFile) {
		same := other.Trailers["Promotion-Step"] == c.Trailers["Promotion-Step"]
		if same && other.isClosing() == c.isClosing() {
			return fmt.Errorf("commit %.10s is step %s of the promotion %s too", other.Hash, c.Trailers["Promotion-Step"], c.Trailers["Promotion"])
		}
	}
	return nil
}

// changesOwnFile tells whether somebody wrote the overlay's own file, as with a
// revert.
func (j judge) changesOwnFile(c Commit) bool {
	if j.isOwn(c) {
		return false
	}
	before, known := j.byHash[append(c.Parents, "")[0]]
	return !known || slices.Contains(changed(before, c), j.ownFile())
}

// promotion are the commits of a commit's promotion that it stands on, up to
// those that end it.
func (j judge) promotion(c Commit, ends func(Commit) bool) []Commit {
	var found []Commit
	seen := map[string]bool{}
	for next := c.Parents; len(next) > 0; next = next[1:] {
		ancestor, known := j.byHash[next[0]]
		if !known || seen[ancestor.Hash] || ends(ancestor) {
			continue
		}
		seen[ancestor.Hash] = true
		if j.isOwn(ancestor) && ancestor.Trailers["Promotion"] == c.Trailers["Promotion"] {
			found = append(found, ancestor)
		}
		next = append(next, ancestor.Parents...)
	}
	return found
}

// mayServe tells whether a revision was ready before the commit. A first
// deployment, also into a cluster that was made anew, has nothing that is, and a rollback may create a revision again. So may
// a restore whose revision Knative had named: another one may have that name by now. Where the one with the traffic was not
// Ready, Knative would route nothing to a new one beside it, so that gets all at once.
func (j judge) mayServe(c Commit, revision string) bool {
	first := c.Trailers["Promotion-From"] == "" && !slices.ContainsFunc(j.Ready[c.Hash], func(name string) bool { return !slices.Contains(j.Down[c.Hash], name) })
	again := c.step() == "rollback" && !c.isClosing()
	remade := c.step() == "restore" && knative.Generated(c.Trailers["Promotion-To"]) && revision != c.Trailers["Promotion-From"] && revision != c.Trailers["Promotion-To"]
	rescue := c.Trailers["Promotion-Step"] == "100" && slices.Contains(j.Down[c.Hash], c.Trailers["Promotion-From"])
	return j.Ready == nil || first || again || remade || rescue || slices.Contains(j.Ready[c.Hash], revision)
}
