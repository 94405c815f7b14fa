package inputs

import (
	"regexp"
	"strings"
)

// A wish is an input that somebody set, as they wrote it. A secret's text is
// not kept.
type wish struct {
	Input
	text string
}

// fromEnvironment says that the text is not for a command line.
func (w wish) fromEnvironment() bool { return w.Secret || strings.Contains(w.text, "\n") }

// wishFor keeps what somebody set, for commands to paste. The command itself
// is theirs to say.
func (s *Settings) wishFor(in Input, text string) {
	switch {
	case in.Name == "command":
	case in.Secret:
		s.wishes = append(s.wishes, wish{Input: in})
	default:
		s.wishes = append(s.wishes, wish{Input: in, text: text})
	}
}

// RollbackCommand rolls back to the promotion before, from the same place.
func (s *Settings) RollbackCommand() string {
	return s.CommandLine(Rollback, func(in Input) bool { return in.Place })
}

// RollbackNeeds are the environment variables without which RollbackCommand
// does not work.
func (s *Settings) RollbackNeeds() []string {
	var names []string
	for _, w := range s.wishes {
		if w.Place && w.fromEnvironment() {
			names = append(names, w.ShellName())
		}
	}
	return names
}

// CommandLine is the command with the inputs that were set and that keep says
// yes to, for a shell. Secrets stay in the environment, and what has several
// lines is taken from there too.
func (s *Settings) CommandLine(command Command, keep func(Input) bool) string {
	words := []string{"knative-promote", string(command)}
	for _, w := range s.wishes {
		if !keep(w.Input) || w.Secret {
			continue
		}
		value := quote(w.text)
		if w.fromEnvironment() {
			value = `"$` + w.ShellName() + `"`
		}
		words = append(words, "--"+w.Name, value)
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// quote is the text as one word of a shell.
func quote(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
