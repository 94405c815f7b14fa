package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/acme/knative-promote/promote"
)

// by is who started a promotion, and who has approved of it.
func by(e promote.Entry) string {
	if e.Approved == "" {
		return e.Actor
	}
	return strings.TrimSpace(e.Actor + ", approved by " + e.Approved)
}

// history prints the promotions that the record has, newest first.
func (t task) history(ctx context.Context) error {
	on, err := t.connect(nil)
	if err != nil {
		return err
	}
	target := t.settings.Target
	service, entries, err := promote.History(ctx, target, on.Branch)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		t.console.Printf("no promotion of %s in the record of %s yet", service, target.Overlay)
		return nil
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "STARTED\tENDED\tREVISION\tFROM\tIMAGES\tBASE\tBY")
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.10s\t%s\n",
			e.Started.UTC().Format("2006-01-02 15:04 UTC"), cmp.Or(string(e.Ended), "under way"), e.To.Revision, e.From.Revision,
			strings.Join(e.To.Images, ","), e.Base, by(e))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	t.console.Printf("%s", text.String())
	return nil
}
