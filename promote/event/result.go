package event

import (
	"encoding/json"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/record"
)

// A Command is what a run is told to do.
type Command string

// The commands. A promotion that is only planned is a diff in its Result.
const (
	CommandPromote  Command = "promote"
	CommandRollback Command = "rollback"
	CommandCheck    Command = "check"
	CommandDiff     Command = "diff"
	CommandPrepare  Command = "prepare"
	CommandHistory  Command = "history"
)

// Pushes tells whether the command may change the branch that Argo CD syncs.
func (c Command) Pushes() bool { return c == CommandPromote || c == CommandRollback }

// Result is everything a run did and saw, as far as it has come. It is what
// the outputs, the pull request comment and the job summary are made from.
type Result struct {
	Target           `json:"-"`
	Command          Command                   `json:"command"`                // diff for what was only planned
	Promotion        string                    `json:"promotion,omitempty"`    // id that its commits share
	Status           Status                    `json:"status,omitempty"`       // empty while the run goes on
	Reason           string                    `json:"reason,omitempty"`       // why it ended so, in words
	Warning          string                    `json:"warning,omitempty"`      // what a person should know although it ended so
	DryRun           bool                      `json:"dry-run,omitempty"`      // the run only says what it would do
	Changed          bool                      `json:"changed"`                // whether this run pushed a commit
	Source           record.Source             `json:"source,omitzero"`        // the environment that the images were taken from
	Drift            []Drift                   `json:"-"`                      // configuration that sources have and the target has not
	NotBefore        time.Time                 `json:"not-before,omitzero"`    // when that will have been good for long enough
	Frozen           bool                      `json:"frozen,omitempty"`       // whether the infra repository's windows kept it from its next commit
	Commit           string                    `json:"commit,omitempty"`       // the last commit of the promotion
	PullRequest      string                    `json:"pull-request,omitempty"` // address of the newest one in the infra repository
	Revision         string                    `json:"revision,omitempty"`
	PreviousRevision string                    `json:"previous-revision,omitempty"`
	RollbackTo       string                    `json:"rollback-to,omitempty"` // the revision that a rollback can lead to from here, as far as is known; empty: none is
	Further          string                    `json:"-"`                     // the revision to name in a rollback that is to leave also what this one leaves users on; empty: none is known
	WithoutPod       string                    `json:"without-pod,omitempty"` // the revision that a rollback has given all users, and that no pod starts of
	Image            string                    `json:"image,omitempty"`
	PreviousImage    string                    `json:"previous-image,omitempty"`
	Traffic          []servingv1.TrafficTarget `json:"traffic,omitempty"` // as the last commit sets it
	Served           []servingv1.TrafficTarget `json:"-"`                 // as Knative served users when it was last seen
	URL              string                    `json:"url,omitempty"`
	CandidateURL     string                    `json:"candidate-url,omitempty"`
	Difference       manifest.Difference       `json:"-"` // of what the overlay rendered before and what it renders when all is done
	Before           []byte                    `json:"-"` // the manifest that the overlay rendered before; not to be written to
	After            []byte                    `json:"-"` // and what it renders when all is done
	Steps            []Step                    `json:"steps"`
	Findings         []Finding                 `json:"findings,omitempty"`   // of the preflight, or of the command check
	Candidates       []Candidate               `json:"candidates,omitempty"` // that the command prepare has found or made
	Evidence         Evidence                  `json:"evidence,omitzero"`    // of the new revision's pod, where a gate has failed
	RunURL           string                    `json:"run-url,omitempty"`
	Actor            string                    `json:"actor,omitempty"`
	Approved         string                    `json:"approved,omitempty"` // who has approved of the run
	Started          time.Time                 `json:"started"`
	Ended            time.Time                 `json:"ended,omitzero"`
}

// MarshalJSON names the target by its parts, and of the difference what the
// fields become.
func (r Result) MarshalJSON() ([]byte, error) {
	changes, more, err := changesOf(r.Difference)
	if err != nil {
		return nil, err
	}
	var drifted []json.RawMessage
	var missing []string
	for _, d := range r.Drift {
		own, _, err := changesOf(d.Changes)
		if err != nil {
			return nil, err
		}
		drifted, missing = append(drifted, own...), append(missing, d.Missing...)
	}
	type rest Result
	return json.Marshal(struct {
		Command Command `json:"command"`
		Target
		rest
		Changes     []json.RawMessage `json:"changes,omitempty"`
		MoreChanges int               `json:"more-changes,omitempty"` // objects, for which there is no room
		Drift       []json.RawMessage `json:"config-drift,omitempty"`
		Missing     []string          `json:"config-missing,omitempty"`
	}{r.Command, r.Target, rest(r), changes, more, drifted, missing})
}

// Progress is how far a step or a gate has come.
type Progress string

// The progress of a step or gate.
const (
	Pending      Progress = "pending"
	Running      Progress = "running"
	Passed       Progress = "passed"
	Broken       Progress = "failed"
	Inconclusive Progress = "inconclusive" // could not be told either way
	Skipped      Progress = "skipped"      // not reached or not ended, because another one failed
)

// A Step is one commit of the promotion and what its gates said.
type Step struct {
	Name     string    `json:"name"`    // candidate, 10 %, 100 %, restore, rollback
	Title    string    `json:"title"`   // the commit's subject
	Percent  int       `json:"percent"` // share of the new revision
	Commit   string    `json:"commit,omitempty"`
	Resumed  bool      `json:"resumed,omitempty"` // the commit was there when the run started
	Progress Progress  `json:"progress"`
	Gates    []Gate    `json:"gates,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
}

// Last is the last step whose commit is in Git, if there is one.
func (r Result) Last() (Step, bool) {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if r.Steps[i].Committed() {
			return r.Steps[i], true
		}
	}
	return Step{}, false
}

// Committed tells whether the step's commit is in Git.
func (s Step) Committed() bool { return s.Commit != "" || s.Resumed || s.Progress == Passed }

// RollsBack tells whether the step rolls back, and is none of a promotion's own.
func (s Step) RollsBack() bool { return record.RollsBack(s.Name) }

// A Gate is what one gate said after one step.
type Gate struct {
	Name     string    `json:"name"`
	Progress Progress  `json:"progress"`
	Reason   string    `json:"reason,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	Measures bool      `json:"measures,omitzero"` // it counts or compares, and the reason says what
}

// A Candidate is one of a pull request that waits for a promotion.
type Candidate struct {
	Overlay     string `json:"path"`
	Service     string `json:"service"`
	Environment string `json:"environment"`
}

// Evidence is what the newest pod of a revision has written, and what its events say.
// The lines are others' words, made fit to be quoted.
type Evidence struct {
	Pod    string   `json:"pod,omitempty"` // empty: there is none, or it may not be seen
	Events []string `json:"events,omitempty"`
	Log    []string `json:"log,omitempty"`
}

// A Target is the Service that a run is about, and where it is.
type Target struct {
	Service     string `json:"service"`
	Environment string `json:"environment"` // label for people
	Overlay     string `json:"overlay"`     // its folder in the infra repository
	Application string `json:"application"` // as the CLI of Argo CD names it
}
