package inputs

import (
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// A Command is what a run is told to do.
type Command = event.Command

// The commands.
const (
	Promote  = event.CommandPromote
	Rollback = event.CommandRollback
	Check    = event.CommandCheck
	Diff     = event.CommandDiff
	Prepare  = event.CommandPrepare
	History  = event.CommandHistory
)

// Commands are all of them, the default first.
func Commands() []Command { return []Command{Promote, Rollback, Check, Diff, Prepare, History} }

// Names are the names of commands, for people.
func Names(commands []Command) string {
	var names []string
	for _, c := range commands {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}
