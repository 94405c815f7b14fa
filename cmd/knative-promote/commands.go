package main

import "github.com/acme/knative-promote/cmd/knative-promote/inputs"

// A command is one thing that the program does. Which inputs it takes and
// cannot do without is in their rows.
type command struct {
	Name  inputs.Command
	Usage string
}

// commandTable is the table of commands.
func commandTable() []command {
	return []command{
		{inputs.Promote, "set the image and shift the traffic in steps, one commit each (default)"},
		{inputs.Rollback, "restore an earlier promotion in one commit"},
		{inputs.Check, "look for what would break a promotion, and change nothing"},
		{inputs.Diff, "show what would change, and change nothing"},
		{inputs.History, "list the promotions"},
	}
}
