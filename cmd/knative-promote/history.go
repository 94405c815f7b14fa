package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/record"
)

// by is who started a promotion, and who has approved of it.
func by(e record.Entry) string {
	if e.Approved == "" {
		return e.Actor
	}
	return strings.TrimSpace(e.Actor + ", approved by " + e.Approved)
}

// listHistory prints the promotions that the record has, newest first, after who has
// which share of the traffic in Git now.
func listHistory(ctx context.Context, t task.Task) error {
	on, err := t.Connect(nil)
	if err != nil {
		return err
	}
	past, err := promote.History(ctx, t.Settings.Target, on.Branch)
	switch {
	case err != nil:
		return err
	case t.Settings.Check.Format == inputs.FormatJSON:
		text, err := json.MarshalIndent(listed(past), "", "  ")
		t.Console.Printf("%s", text)
		return err
	case len(past.Entries) == 0:
		t.Console.Printf("no promotion of %s in the record of %s yet", past.Service, t.Settings.Target.Overlay)
		return nil
	}
	text, err := table(past)
	t.Console.Printf("traffic in Git: %s\n%s", knative.Describe(past.Traffic), text)
	return err
}

// table is a history for people.
func table(past promote.Past) (string, error) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "STARTED\tENDED\tGATE\tREVISION\tFROM\tIMAGES\tBASE\tBY")
	for i, e := range past.Entries {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%.10s\t%s\n",
			e.Started.UTC().Format("2006-01-02 15:04 UTC"), howEnded(past.Entries, i), cmp.Or(e.Gate, "-"), e.To.Revision, e.From.Revision,
			strings.Join(e.To.Images, ","), e.Base, by(e))
	}
	err := table.Flush()
	return text.String(), err
}

// howEnded says how an entry ended: a rollback leads to its revision, and a promotion
// that was rolled back came from there.
func howEnded(entries []record.Entry, i int) string {
	e := entries[i]
	switch {
	case e.Rollback:
		return "rollback to it"
	case e.Ended == record.RolledBack:
		return fmt.Sprintf("rolled-back from %d %%", e.Reached)
	case i > 0 && entries[i-1].Rollback && entries[i-1].From.Revision == e.To.Revision && e.Ended == record.Superseded:
		return fmt.Sprintf("rolled-back by hand from %d %%", e.Reached)
	case e.Ended == record.Promoted:
		return string(e.Ended)
	}
	return fmt.Sprintf("%s at %d %%", cmp.Or(string(e.Ended), "under way"), e.Reached)
}

// A listedEntry is an entry of a history for programs.
type listedEntry struct {
	Started  time.Time  `json:"started"`
	Ended    record.End `json:"ended,omitempty"`
	Rollback bool       `json:"rollback"`
	Reached  int        `json:"reached"`
	Passed   *time.Time `json:"passed,omitempty"`
	Gate     string     `json:"gate,omitempty"`
	To       any        `json:"to"`
	From     any        `json:"from"`
	Base     string     `json:"base,omitempty"`
	Run      string     `json:"run,omitempty"`
	Actor    string     `json:"actor,omitempty"`
	Approved string     `json:"approved,omitempty"`
	Code     string     `json:"code,omitempty"`
}

// listed is a history for programs. An entry that is under way has not ended.
func listed(past promote.Past) any {
	entries := []listedEntry{}
	for _, e := range past.Entries {
		own := listedEntry{
			Started: e.Started, Ended: e.Ended, Rollback: e.Rollback, Reached: e.Reached, Gate: e.Gate,
			To: e.To, From: e.From, Base: e.Base, Run: e.Run, Actor: e.Actor, Approved: e.Approved, Code: e.Code.Commit,
		}
		if !e.Passed.IsZero() {
			own.Passed = &e.Passed
		}
		entries = append(entries, own)
	}
	return map[string]any{"service": past.Service, "traffic": past.Traffic, "entries": entries}
}
