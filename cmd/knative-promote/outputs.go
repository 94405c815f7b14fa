package main

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/record"
)

// An outputRow is one output of the action: its row is its only declaration.
type outputRow struct {
	Name  string
	Usage string
	Value func(event.Result) string
}

// outputTable is the table of outputs.
func outputTable() []outputRow {
	return []outputRow{
		{"status", "how the run ended: " + statusNames(),
			func(r event.Result) string { return string(cmp.Or(r.Status, event.Failed)) }},
		{"changed", "`true` if this run pushed a commit, else `false`",
			func(r event.Result) string { return strconv.FormatBool(r.Changed) }},
		{"commit", "the promotion's last commit in the infra repository",
			func(r event.Result) string { return r.Commit }},
		{"pull-request", "the address of the newest pull request that the run has opened, or found open, in the infra repository; empty where there is none",
			func(r event.Result) string { return r.PullRequest }},
		{"revision", "the new revision",
			func(r event.Result) string { return r.Revision }},
		{"previous-revision", "the revision that had the traffic before",
			func(r event.Result) string { return r.PreviousRevision }},
		{"image", "the new revision's image",
			func(r event.Result) string { return r.Image }},
		{"traffic", "the traffic targets as the last commit sets them, in JSON",
			func(r event.Result) string { return jsonText(r.Traffic) }},
		{"url", "the Service's URL",
			func(r event.Result) string { return r.URL }},
		{"candidate-url", "the URL of the candidate's tag",
			func(r event.Result) string { return r.CandidateURL }},
		{"source", "what the images were taken from with `from`: the overlay, the commit that it was read at and the revision that ran there, in JSON",
			func(r event.Result) string { return jsonUnlessZero(r.Source) }},
		{"not-before", "when the environment that `from` names will have been good for the time of `soak`, as 2006-01-02T15:04:05Z; empty where that is not what is missing",
			func(r event.Result) string { return timeText(r.NotBefore) }},
		{"diff", "the rendered manifests before and after, as a unified diff without secrets",
			func(r event.Result) string { return r.Difference.String() }},
		{"candidates", "for `prepare`: the candidates that the pull request has, or that the push has brought and that wait for `promote`, as a list in JSON: path, service and environment of each",
			candidatesText},
		{"findings", "what `check`, `diff` or the preflight of a promotion found, in JSON",
			func(r event.Result) string { return jsonText(r.Findings) }},
		{"report", "everything about the run in JSON: every step with its commit, times, gates and reasons, and the fields of the rendered manifests that change",
			func(r event.Result) string { return jsonText(r) }},
	}
}

// statusNames are all that a run can end with.
func statusNames() string {
	var names []string
	for _, e := range event.Ends() {
		names = append(names, "`"+string(e.Status)+"`")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// outputsOf are the outputs of a run that has come as far as the result says.
func outputsOf(result event.Result) []console.Output {
	var outputs []console.Output
	for _, row := range outputTable() {
		outputs = append(outputs, console.Output{Name: row.Name, Value: row.Value(result)})
	}
	return outputs
}

// candidatesText is a list also where it is empty, for a workflow's matrix.
func candidatesText(r event.Result) string {
	if r.Command == event.CommandPrepare {
		return jsonText(append([]event.Candidate{}, r.Candidates...))
	}
	return ""
}

// jsonUnlessZero is the source in JSON, and empty for none.
func jsonUnlessZero(source record.Source) string {
	if source.IsZero() {
		return ""
	}
	return jsonText(source)
}

// timeText is the time in UTC, and empty for none.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// jsonText is the value in JSON, and empty for what has none.
func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil || string(text) == "null" {
		return ""
	}
	return string(text)
}
