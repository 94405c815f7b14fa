package inputs

import (
	"strings"

	"github.com/acme/knative-promote/promote"
)

// A Command is what a run is told to do.
type Command = promote.Command

// The commands.
const (
	Promote  = promote.CommandPromote
	Rollback = promote.CommandRollback
	Check    = promote.CommandCheck
	Diff     = promote.CommandDiff
	Prepare  = promote.CommandPrepare
	History  = promote.CommandHistory
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
