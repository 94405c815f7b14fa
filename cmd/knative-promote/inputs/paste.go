package inputs

import (
	"regexp"
	"slices"
	"strings"
)

// A wish is an input that somebody set, as they wrote it. A secret's text is
// not kept.
type wish struct {
	name, text string
	secret     bool
}

// fromEnvironment says that the text is not for a command line.
func (w wish) fromEnvironment() bool { return w.secret || strings.Contains(w.text, "\n") }

// RollbackCommand goes back to the promotion before, from the same place.
func (s *Settings) RollbackCommand() string {
	return s.CommandLine(Rollback, s.isPlace)
}

// RollbackNeeds are the environment variables without which RollbackCommand
// does not work.
func (s *Settings) RollbackNeeds() []string {
	var names []string
	for _, w := range s.wishes {
		if s.isPlace(w.name) && w.fromEnvironment() {
			names = append(names, Input{Name: w.name}.ShellName())
		}
	}
	return names
}

// isPlace says whether the input tells where the Service is.
func (s *Settings) isPlace(name string) bool {
	return slices.Contains([]string{"service", "environment", "candidate-tag"}, name) ||
		slices.ContainsFunc(slices.Concat(s.where(), s.argocd()), func(in Input) bool { return in.Name == name })
}

// CommandLine is the command with the inputs that were set and that keep says
// yes to, for a shell. Secrets stay in the environment, and what has several
// lines is taken from there too.
func (s *Settings) CommandLine(command string, keep func(name string) bool) string {
	words := []string{"knative-promote", command}
	for _, w := range s.wishes {
		if !keep(w.name) || w.secret {
			continue
		}
		value := quote(w.text)
		if w.fromEnvironment() {
			value = `"$` + (Input{Name: w.name}).ShellName() + `"`
		}
		words = append(words, "--"+w.name, value)
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
