package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote"
)

// A wish is an input that somebody set, as they wrote it. A secret's text is
// not kept.
type wish struct {
	name, text string
	secret     bool
}

// fromEnvironment says that the text is not for a command line.
func (w wish) fromEnvironment() bool { return w.secret || strings.Contains(w.text, "\n") }

// after tells people what they can do about a run that did not end well, with
// the commands to paste.
func (s *settings) after(result promote.Result, err error) string {
	var restore *promote.RestoreError
	var stopped *promote.PreflightStop
	switch {
	case errors.As(err, &stopped):
		return "To promote all the same:\n  " + s.commandLine(cmdPromote, func(name string) bool { return name != "preflight" }) + " --preflight " + string(promote.PreflightWarn)
	case errors.As(err, &restore):
		return "A person must look: the traffic may still go to the new revision. To take it back by hand:\n  " + s.rollbackCommand()
	case result.Command == cmdRollback, result.Command == cmdDiff:
		return ""
	case result.Status == promote.Held, result.Status == promote.Cancelled, result.Status == promote.Failed && result.Changed:
		return s.onward(result)
	case result.Status == promote.Superseded:
		return "Nothing was taken back: what is in the infra repository now is somebody else's."
	}
	return ""
}

// onward is what can be done about a promotion that stands where its last
// commit has put it.
func (s *settings) onward(result promote.Result) string {
	same := s.commandLine(cmdPromote, func(string) bool { return true })
	if last, found := result.Last(); !found || last.TakesBack() {
		return "To try it again:\n  " + same
	}
	return "To continue:\n  " + same + "\nTo take it back:\n  " + s.rollbackCommand()
}

// rollbackCommand goes back to the promotion before, from the same place.
func (s *settings) rollbackCommand() string {
	return s.commandLine(cmdRollback, s.isPlace)
}

// rollbackNeeds are the environment variables without which rollbackCommand
// does not work.
func (s *settings) rollbackNeeds() []string {
	var names []string
	for _, w := range s.Wishes {
		if s.isPlace(w.name) && w.fromEnvironment() {
			names = append(names, input{Name: w.name}.shellName())
		}
	}
	return names
}

// isPlace says whether the input tells where the Service is.
func (s *settings) isPlace(name string) bool {
	return slices.Contains([]string{"service", "environment", "candidate-tag"}, name) ||
		slices.ContainsFunc(slices.Concat(s.where(), s.argocd()), func(in input) bool { return in.Name == name })
}

// commandLine is the command with the inputs that were set and that keep says
// yes to, for a shell. Secrets stay in the environment, and what has several
// lines is taken from there too.
func (s *settings) commandLine(command string, keep func(name string) bool) string {
	words := []string{"knative-promote", command}
	for _, w := range s.Wishes {
		if !keep(w.name) || w.secret {
			continue
		}
		value := quote(w.text)
		if w.fromEnvironment() {
			value = `"$` + (input{Name: w.name}).shellName() + `"`
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
