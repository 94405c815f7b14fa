package inputs

import "strings"

// A Command is what a run is to do.
type Command string

// The commands.
const (
	Promote  Command = "promote"
	Rollback Command = "rollback"
	Check    Command = "check"
	Diff     Command = "diff"
	History  Command = "history"
)

// Commands are all of them, the default first.
func Commands() []Command { return []Command{Promote, Rollback, Check, Diff, History} }

// Pushes says whether the command may change the infra repository.
func (c Command) Pushes() bool { return c == Promote || c == Rollback }

// Names are the names of commands, for people.
func Names(commands []Command) string {
	var names []string
	for _, c := range commands {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}
