package inputs

import (
	"regexp"
	"slices"
	"strings"
)

// A keptInput is an input that somebody set, as they wrote it. A secret's text is
// not kept.
type keptInput struct {
	Input
	text string
}

// fromEnvironment says that the text is not for a command line.
func (k keptInput) fromEnvironment() bool { return k.Secret || strings.Contains(k.text, "\n") }

// keep keeps what somebody set, for commands to paste. The command itself
// is theirs to say, and what the pipeline file says it says again.
func (s *Settings) keep(in Input, text, source string) {
	switch {
	case in.Name == "command", bySaid(source):
	case in.Secret:
		s.kept = append(s.kept, keptInput{Input: in})
	default:
		s.kept = append(s.kept, keptInput{Input: in, text: text})
	}
}

// RollbackCommand rolls back to the promotion before, from the same place.
func (s *Settings) RollbackCommand() string {
	return s.CommandLine(Rollback, func(in Input) bool { return in.Place })
}

// RollbackTo is the same to a revision, whose name may be anybody's.
func (s *Settings) RollbackTo(revision string) string {
	return s.RollbackCommand() + " --to " + quote(revision)
}

// CheckCommand looks at the same place.
func (s *Settings) CheckCommand() string {
	return s.CommandLine(Check, func(in Input) bool { return in.Place })
}

// FurtherCommand is the promotion with a last step of 100 more, where its steps were set.
func (s *Settings) FurtherCommand() string {
	further := *s
	further.kept = slices.Clone(s.kept)
	for i, k := range further.kept {
		if k.Name == "steps" && !k.fromEnvironment() {
			further.kept[i].text += ",100"
		}
	}
	return further.CommandLine(Promote, func(Input) bool { return true })
}

// RollbackNeeds are the environment variables without which RollbackCommand
// does not work.
func (s *Settings) RollbackNeeds() []string {
	var names []string
	for _, k := range s.kept {
		if k.Place && k.fromEnvironment() {
			names = append(names, k.ShellName())
		}
	}
	return names
}

// CommandLine is the command with the inputs that were set and that keep says
// yes to, for a shell. Secrets stay in the environment, and what has several
// lines is taken from there too.
func (s *Settings) CommandLine(command Command, keep func(Input) bool) string {
	words := []string{"knative-promote", string(command)}
	for _, k := range s.kept {
		if !keep(k.Input) || k.Secret {
			continue
		}
		value := quote(k.text)
		if k.fromEnvironment() {
			value = `"$` + k.ShellName() + `"`
		}
		words = append(words, "--"+k.Name, value)
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
