package promote

import (
	"time"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/gitops/signing"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/review"
	"github.com/acme/knative-promote/promote/source"
)

// Policy says what a run leaves behind when it cannot go on.
type Policy string

// The policies of on-failure, on-inconclusive and on-cancel.
const (
	RollBack Policy = "rollback" // one commit restores image, revision and traffic
	Hold     Policy = "hold"     // the traffic stays as the last commit set it
	GoOn     Policy = "pass"     // an inconclusive gate counts as passed
)

// Config is what one run is asked to do. Nothing writes to it while the run
// goes on. The defaults are those of the program's inputs, not the zero values.
type Config struct {
	plan.Settings
	Targets []plan.Target // at least one, in one infra repository and branch

	Images []kustomize.Image // images to set; none promotes the template as it stands

	Gates gate.Settings

	Preflight Preflight
	Skip      []string // rules of the check that are not asked
	OnlyThis  bool     // go on where other Applications deploy the overlay too, at which nobody looks

	Mode         review.Mode
	Merge        review.Merge  // who merges the pull requests
	MergeTimeout time.Duration // how long a pull request may take to be merged

	OnFailure      Policy
	OnInconclusive Policy
	OnCancel       Policy
	Guards         guard.Settings // a Reason goes with what it passes over
	Policies       []string       // patterns of the infra repository's files with ValidatingAdmissionPolicies
	PodSecurity    string         // the pod security standard to hold: baseline, restricted, or empty: none
	Strict         bool           // a field that no kind has stops a promotion

	Signer *signing.Key // that the commits are signed with, for the check; nil: they are not, or by the forge
	ByAPI  bool         // the forge makes the commits, and signs them

	ForgeKey string // id of the OpenPGP key that the forge signs with; empty: not known

	source.Wants // the environments whose images are promoted, in the place of Images

	To     string // rollback: a revision, a commit, or empty for the promotion before
	Unseen bool   // rollback: Argo CD is not asked, and nobody waits until it is live
	Reason string // why, for the commit and the report
	DryRun bool   // plan and check, push nothing

	// RunAgain says that this is not the workflow run's first attempt: what a
	// newer run has done since stays.
	RunAgain bool
}

// Worst is the longest that a run may take that is ended at the limit, and what
// comes after it when the last gate fails. How long an analysis may take is known
// from its files only.
func (c Config) Worst(limit time.Duration) time.Duration {
	gates := c.gates(analysis.Sources{})
	return c.ends(&gates, limit)
}

// ends is the same with the gates as a target has them.
func (c Config) ends(gates *ask.Gates, limit time.Duration) time.Duration {
	return min(gates.Longest(), limit) + c.Gates.Wait + c.reviewTime()
}

// gates are those that the run asks of each target.
func (c Config) gates(sources analysis.Sources) ask.Gates {
	return ask.Gates{Settings: c.Gates, Steps: c.Steps, Sources: sources, GoesOn: c.OnInconclusive == GoOn}
}

// reviewTime is how much longer a rollback takes that people review.
func (c Config) reviewTime() time.Duration {
	if c.Mode != review.Every {
		return 0
	}
	return c.MergeTimeout
}

// onGate is what a run leaves behind that a gate has stopped.
func (c Config) onGate(cause error) Policy {
	if ask.IsInconclusive(cause) {
		return c.OnInconclusive
	}
	return c.OnFailure
}

// Preflight says what a promotion does about an error that it finds before its
// first commit. The zero value is PreflightError.
type Preflight string

// The kinds of preflight.
const (
	PreflightError Preflight = "error" // the run ends before anything is pushed
	PreflightWarn  Preflight = "warn"  // the run says so and goes on
	PreflightOff   Preflight = "off"   // nothing is looked at
	PreflightPlan  Preflight = "plan"  // nobody is asked: what is planned is looked at alone
)
