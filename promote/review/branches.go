package review

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/acme/knative-promote/gitops"
)

// restores finds the branch of a proposal with which a promotion that failed is rolled back.
var restores = regexp.MustCompile(`-restore(-again)?(-[0-9]+)?$`)

// numbered is what the names of a proposal's branches end with after the step.
var numbered = regexp.MustCompile(`^-[0-9]+$`)

// rollsBack finds the branch of a proposal that rolls back.
var rollsBack = regexp.MustCompile(`-(restore|rollback)(-again)?(-[0-9]+)?$`)

// notes finds the branch of a proposal that notes that the gates of a promotion have
// passed.
var notes = regexp.MustCompile(`-(candidate|[0-9]+)-passed(-[0-9]+)?$`)

// over tells whether another proposal for the target is not to be merged any more: an
// earlier one of the same promotion, and any where a promotion or rollback begins.
func (p Proposal) over(other PullRequest) bool {
	switch {
	case p.own(other):
		return true
	case restores.MatchString(p.branch()):
		return !rollsBack.MatchString(other.Branch) // somebody's, which may go further
	}
	return p.Begins || rollsBack.MatchString(p.branch())
}

// own tells whether another proposal is of the same promotion.
func (p Proposal) own(other PullRequest) bool {
	return strings.HasPrefix(other.Branch, p.prefix()+p.Promotion+"-")
}

// branch is the name of the first branch for the proposal. A run that is started again comes
// to the same.
func (p Proposal) branch() string { return p.prefix() + p.Promotion + "-" + p.Step }

// another is the name of another branch for a proposal, which nobody can foresee: who may
// push branches may have made the first one, or one that is in its way.
func another(first string) (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1e12))
	if err != nil {
		return "", fmt.Errorf("naming a branch: %w", err)
	}
	return fmt.Sprintf("%s-%012d", first, n), nil
}

// isAnother tells whether a branch has one of these names.
func isAnother(first, branch string) bool {
	rest, is := strings.CutPrefix(branch, first)
	return is && numbered.MatchString(rest)
}

// prefix is what the branches of all proposals for the target begin with. No target has a
// point in it, and no name a slash: a branch that somebody makes is in no other one's way.
func (p Proposal) prefix() string { return gitops.ProposalPrefix + p.Target + "." }
