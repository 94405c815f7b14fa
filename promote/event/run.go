package event

import (
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/record"
)

// Named says which target the run is about, as far as is known.
type Named struct {
	silent
	Target Target
}

func (e Named) apply(r *Result, _ time.Time) { r.Target = e.Target }

// Planned says what the run is to lead to.
type Planned struct {
	silent
	Promotion                  string // its id
	Revision, PreviousRevision string // that is to have the traffic, and that has it
	Image, PreviousImage       string
	RollbackTo                 string                    // see Result
	Traffic                    []servingv1.TrafficTarget // as it is
	Steps                      []Step                    // of a promotion
}

func (e Planned) apply(r *Result, _ time.Time) {
	r.Promotion, r.Revision, r.PreviousRevision, r.RollbackTo = e.Promotion, e.Revision, e.PreviousRevision, e.RollbackTo
	r.Image, r.PreviousImage, r.Traffic = e.Image, e.PreviousImage, e.Traffic
	r.Steps = append(r.Steps, e.Steps...)
}

// Rendered says what the overlay renders before the run and when all is done.
type Rendered struct {
	silent
	Before, After []byte // not to be written to
}

func (e Rendered) apply(r *Result, _ time.Time) {
	r.Before, r.After, r.Difference = e.Before, e.After, manifest.Compare(e.Before, e.After)
}

// Found says what the preflight has found.
type Found struct{ Findings []Finding }

// Lines count the findings.
func (e Found) Lines() []string { return line("preflight: %s", Tally(e.Findings)) }

func (e Found) apply(r *Result, _ time.Time) { r.Findings = e.Findings }

// TakenFrom says which environment the images are taken from.
type TakenFrom struct {
	silent
	Source record.Source
}

func (e TakenFrom) apply(r *Result, _ time.Time) { r.Source, r.NotBefore = e.Source, time.Time{} }

// SourceNotBefore says when the environment that the images come from will have been
// good for long enough; zero: nobody knows.
type SourceNotBefore struct {
	silent
	Time time.Time
}

func (e SourceNotBefore) apply(r *Result, _ time.Time) { r.NotBefore = e.Time }

// Drifted says what configuration the sources have and the target has not.
type Drifted struct{ All []Drift }

// Lines are what drifts.
func (e Drifted) Lines() (all []string) {
	for _, d := range e.All {
		for _, words := range d.Words() {
			all = append(all, "configuration of "+d.From+" that is not so here: "+words)
		}
	}
	return all
}

func (e Drifted) apply(r *Result, _ time.Time) { r.Drift = e.All }

// Seen says where the live Service and its candidate answer, and what Knative serves.
type Seen struct {
	silent
	Served            []servingv1.TrafficTarget
	URL, CandidateURL string // empty: as before
}

func (e Seen) apply(r *Result, _ time.Time) {
	r.Served = e.Served
	if e.URL != "" {
		r.URL = e.URL
	}
	if e.CandidateURL != "" {
		r.CandidateURL = e.CandidateURL
	}
}

// TrafficSet says what traffic the last commit sets.
type TrafficSet struct {
	silent
	Traffic []servingv1.TrafficTarget
}

func (e TrafficSet) apply(r *Result, _ time.Time) { r.Traffic = e.Traffic }

// RollbackLeads says which revision a rollback can lead to from here; empty: none.
type RollbackLeads struct {
	silent
	To string
}

func (e RollbackLeads) apply(r *Result, _ time.Time) { r.RollbackTo = e.To }

// LeadsFurther says which revision a rollback leads to that is to leave also what this one leaves
// users on.
type LeadsFurther struct {
	silent
	To string
}

func (e LeadsFurther) apply(r *Result, _ time.Time) { r.Further = e.To }

// NoPodStarts says of a revision that a rollback has given all users that no pod of it starts, and
// which one was good before it; empty: none is known.
type NoPodStarts struct {
	silent
	Revision, Further string
}

func (e NoPodStarts) apply(r *Result, _ time.Time) {
	r.WithoutPod, r.RollbackTo = e.Revision, e.Further
}

// PullRequest says what becomes of a pull request with a commit of the run.
type PullRequest struct {
	Number int // 0: it is not open yet
	URL    string
	What   string // open, or what has become of it in words
}

// Lines name the pull request.
func (e PullRequest) Lines() []string {
	if e.Number == 0 {
		return line("pull request: %s", e.What)
	}
	return line("pull request #%d (%s): %s", e.Number, e.URL, e.What)
}

// apply keeps the one that was opened or found open last: what is told of others is that they
// are closed for it.
func (e PullRequest) apply(r *Result, _ time.Time) {
	if e.What == "open" {
		r.PullRequest = e.URL
	}
}

// Warned says what a person should know although the run ends well; empty takes an
// earlier warning back.
type Warned struct{ Text string }

// Lines are the warning.
func (e Warned) Lines() []string {
	if e.Text == "" {
		return nil
	}
	return []string{e.Text}
}

func (e Warned) apply(r *Result, _ time.Time) { r.Warning = e.Text }

// Explained adds to why the run ends as it does.
type Explained struct{ Text string }

// Lines are the explanation.
func (e Explained) Lines() []string { return []string{e.Text} }

func (e Explained) apply(r *Result, _ time.Time) {
	r.Reason = strings.TrimPrefix(r.Reason+"; "+e.Text, "; ")
}

// Noted says which commit notes that the gates of a step have passed.
type Noted struct{ Commit, Title string }

// Lines name the commit.
func (e Noted) Lines() []string { return line("commit %.10s: %s", e.Commit, e.Title) }

func (e Noted) apply(r *Result, _ time.Time) { r.Changed = true }

// Told says what the pod of the new revision has written, and its events.
type Told struct{ Evidence Evidence }

// Lines are what it has written.
func (e Told) Lines() (all []string) {
	for _, text := range e.Evidence.Events {
		all = append(all, "event of pod "+e.Evidence.Pod+": "+text)
	}
	for _, text := range e.Evidence.Log {
		all = append(all, "log of pod "+e.Evidence.Pod+": "+text)
	}
	return all
}

func (e Told) apply(r *Result, _ time.Time) { r.Evidence = e.Evidence }

// Ended says how the run has ended.
type Ended struct {
	silent
	Status Status
	Reason string // empty: what has been explained
}

func (e Ended) apply(r *Result, now time.Time) {
	r.Status, r.Ended = e.Status, now
	if e.Reason != "" {
		r.Reason = e.Reason
	}
}
