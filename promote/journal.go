package promote

import (
	"fmt"
	"slices"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
)

// A journal writes the Result of a run, nothing else does, and tells the
// Reporter of it.
type journal struct {
	result   event.Result
	reporter Reporter
}

// newJournal opens the Result.
func newJournal(command event.Command, c Config, target Target, started time.Time, reporter Reporter) *journal {
	if c.DryRun && command == event.CommandPromote {
		command = event.CommandDiff
	}
	j := &journal{reporter: reporter, result: event.Result{
		Command: command, DryRun: c.DryRun, Target: target.Named(),
		RunURL: c.RunURL, Actor: c.Actor, Approved: c.Approved, Started: started,
	}}
	if command == event.CommandRollback {
		j.result.Reason = c.Reason
	}
	return j
}

// planned notes what the plan leads to, before its edits are tried.
func (j *journal) planned(plan Plan, at Situation) error {
	r := &j.result
	r.Promotion, r.Revision, r.PreviousRevision, r.Image = plan.ID, plan.To, plan.From, plan.Image
	r.PreviousImage, r.RollbackTo = newImage(at.Next, at.Now), plan.From
	for _, step := range plan.Steps {
		r.Steps = append(r.Steps, event.Step{Name: step.Name, Title: step.Subject, Percent: step.Percent, Progress: event.Pending, Resumed: step.Done})
	}
	var err error
	if r.Traffic, err = at.Now.Traffic(); err != nil {
		return err
	}
	j.report()
	return nil
}

// plannedRollback notes what a rollback leads to.
func (j *journal) plannedRollback(back reversal, after edited, at Situation) {
	r := &j.result
	r.Promotion, r.Revision, r.PreviousRevision = back.plan.ID, back.dest.Revision, back.plan.To
	r.Image, r.PreviousImage = firstOf(back.dest.Images), firstOf(at.Now.Images())
	r.Traffic = back.dest.traffic
	j.renders(at.Now, after.state)
	j.warn(after.warning(back.dest))
	if after.state.Revision() == back.dest.Revision && back.dest.readiness().Gone {
		j.reason("revision %s no longer exists, it is created again from Git", back.dest.Revision)
	}
}

// confirms notes what a commit has rolled back that is only to be seen live.
func (j *journal) confirms(at Situation, split knative.Split) {
	r := &j.result
	r.Promotion, r.Revision, r.PreviousRevision, r.Image = at.Record.Promotion, split.Stable, at.Record.From.Revision, firstOf(at.Now.Images())
	if at.Record.Step == record.Restore {
		r.PreviousRevision = at.Record.To.Revision
	}
}

// takes notes what the images are taken from.
func (j *journal) takes(from record.Source) { j.result.Source, j.result.NotBefore = from, time.Time{} }

// notBefore notes when the environment that they come from will have been good
// for long enough; zero: nobody knows.
func (j *journal) notBefore(at time.Time) { j.result.NotBefore = at }

// drifts notes what configuration a source has and the target has not, and says it
// in lines.
func (j *journal) drifts(d event.Drift, lines []string) {
	j.result.Drift = append(j.result.Drift, d)
	for _, line := range lines {
		j.say("configuration of %s that is not so here: %s", d.From, line)
	}
}

// pull notes what becomes of a pull request with a commit of the run.
func (j *journal) pull(pull review.PullRequest, what string) {
	if pull.Number == 0 {
		j.say("pull request: %s", what)
		return
	}
	j.result.PullRequest = pull.URL
	j.say("pull request #%d (%s): %s", pull.Number, pull.URL, what)
	j.report()
}

// renders notes what the overlay renders to, and the difference.
func (j *journal) renders(before, after *knative.State) {
	j.result.Before, j.result.After = before.Manifest, after.Manifest
	j.result.Difference = manifest.Compare(before.Manifest, after.Manifest)
}

// found notes the findings of the preflight.
func (j *journal) found(findings []event.Finding) {
	j.result.Findings = findings
	j.say("preflight: %s", event.Tally(findings))
	j.report()
}

// traffic notes the traffic as the last commit sets it.
func (j *journal) traffic(targets []servingv1.TrafficTarget) { j.result.Traffic = targets }

// leadsTo notes what a rollback can lead to from here; empty: nothing.
func (j *journal) leadsTo(revision string) { j.result.RollbackTo = revision }

// warn notes what a person should know although the run ends well; empty takes
// an earlier warning back.
func (j *journal) warn(text string) {
	if text != "" && text != j.result.Warning {
		j.say("%s", text)
	}
	j.result.Warning = text
}

// reason adds to why the run ends so.
func (j *journal) reason(format string, args ...any) {
	j.result.Reason = strings.TrimPrefix(j.result.Reason+"; "+fmt.Sprintf(format, args...), "; ")
	j.say(format, args...)
}

// overrides notes what a commit is made in spite of.
func (j *journal) overrides(causes []string, why string) {
	for _, c := range causes {
		text := fmt.Sprintf("overridden: %s: %s", c, why)
		if !strings.Contains(j.result.Reason, text) { // by an earlier step's commit
			j.reason("%s", text)
		}
	}
}

// stopped notes that the run ends before 100 %, as its steps say.
func (j *journal) stopped(at string) {
	j.result.Reason = fmt.Sprintf("stopped at %s as asked; a run with further steps continues", at)
}

// saw notes where the live Service and its candidate answer.
func (j *journal) saw(seen argo.Observed, candidateTag string) {
	if seen.Service == nil {
		return
	}
	j.result.Served = seen.Service.Status.Traffic
	if url := seen.Service.Status.URL; url != nil {
		j.result.URL = url.String()
	}
	for _, t := range seen.Service.Status.Traffic {
		if t.Tag == candidateTag && t.URL != nil {
			j.result.CandidateURL = t.URL.String()
		}
	}
}

// closed notes the commit that says that the gates have passed.
func (j *journal) closed(hash, what string) {
	j.result.Changed = true
	j.say("commit %.10s: %s", hash, what)
}

// end closes the Result.
func (j *journal) end(status event.Status, err error) event.Result {
	j.result.Status, j.result.Ended = status, time.Now()
	if err != nil {
		j.result.Reason = err.Error()
	}
	j.report()
	return j.result
}

// report hands out a copy: whoever shows it may take its time.
func (j *journal) report() {
	r := j.result
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Gates = slices.Clone(r.Steps[i].Gates)
	}
	j.reporter.Report(r)
}

// say prints a line into the log.
func (j *journal) say(format string, args ...any) {
	say(j.reporter, format, args...)
}

// say prints a line into the log.
func say(reporter Reporter, format string, args ...any) {
	reporter.Line(strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// verdicts logs what is waited for: when it changes, and now and then while it
// does not, so that nobody takes a long wait for a dead run.
func (j *journal) verdicts() func(argo.Verdict) {
	var last string
	var said time.Time
	return func(v argo.Verdict) {
		if v.Reason == last && time.Since(said) < heartbeat {
			return
		}
		last, said = v.Reason, time.Now()
		j.say("%s: %s", v.State, v.Reason)
	}
}

// heartbeat is the longest silence in the log.
const heartbeat = 25 * time.Second
