package inputs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/setting"
)

// A BadInput names every input that is wrong, one line each, with its value,
// what is expected and the fix.
type BadInput struct{ Lines []string }

// Error is the lines.
func (e *BadInput) Error() string { return strings.Join(e.Lines, "\n") }

// Read fills the settings: a flag wins over the environment, that over what the
// pipeline file says of the target, and that over the default. An empty value
// counts as not set. The error is a *BadInput with all that is wrong.
func Read(args Arguments, getenv func(string) string, w console.Workflow, file pipeline.File) (Settings, error) {
	var s Settings
	if args.command != "" {
		args.flags["command"] = args.command
	}
	r := &reading{args: args, getenv: getenv, file: file}
	repository, _ := r.asked("repository")
	r.checkout = repository == ""
	lost := s.begin(r)
	given, wrong := s.values(r, w)
	wrong = append(slices.Clone(args.wrong), wrong...)
	s.Rules, s.Unasked = r.rules, r.unasked
	s.complete(w)
	s.Reached = len(wrong) == 0 && reachable(&s, given, w)
	if lost == "" && len(s.Several) > 0 {
		lost = tokensOfSeveral(&s, r)
	}
	switch {
	case lost != "":
		wrong = append(wrong, lost)
	case len(s.Several) > 0 && s.Command != Promote:
		wrong = append(wrong, fmt.Sprintf("environment: %q: the command %s is for one environment; expected one of %s", strings.Join(s.Several, ","), s.Command, strings.Join(s.Several, ", ")))
	case len(s.Several) == 0:
		wrong = append(wrong, s.missing(given)...)
		wrong = append(wrong, looser(&s, r, given)...)
		wrong = append(wrong, contradictions(&s, given, w)...)
		wrong = append(wrong, findSourceArgos(&s, r, given)...)
	}
	if len(wrong) > 0 {
		return s, &BadInput{wrong}
	}
	return s, nil
}

// values checks each value and keeps it. It gives who has set which, and what is
// wrong.
func (s *Settings) values(r *reading, w console.Workflow) (given origins, wrong []string) {
	given, s.Promote.Guards.Given = origins{}, map[string]string{}
	for _, in := range inputsOf(s) {
		text, source := r.lookUp(in)
		if source != "" && !in.isFor(s.Command) {
			wrong = append(wrong, s.passOver(in, text, source, w)...)
			text, source = in.Default, ""
		}
		if _, refused := r.args.flags[in.Name]; refused || source != "" && text != in.Default {
			given[in.Name] = origin{source: source, bad: source == ""}
			s.keep(in, text, source)
		}
		if text == "" {
			continue
		}
		if in.Said == setting.Guard || len(in.Of) > 0 {
			s.Promote.Guards.Given[in.Name] = text
		}
		if err := in.Value.Set(text); err != nil {
			wrong = append(wrong, in.complain(text, source, err))
			given[in.Name] = origin{source: source, bad: true}
		}
	}
	s.AsItStands = given.source("image") != "" && len(s.Promote.Images) == 0
	return given, wrong
}

// An origin is where the value of an input came from.
type origin struct {
	source string // a flag or an environment variable
	bad    bool   // so nothing can be checked with the value
}

// origins are those of the inputs that somebody set. A default does not count,
// which the runner gives too.
type origins map[string]origin

// has says whether the input was set, be it to a bad value.
func (o origins) has(name string) bool {
	_, set := o[name]
	return set
}

// source is where the good value of an input came from; empty without one.
func (o origins) source(name string) string {
	if o[name].bad {
		return ""
	}
	return o[name].source
}

// passOver leaves out an input that is for other commands: in an environment
// it may stand for those. A flag is meant for this one, so it is wrong.
func (s *Settings) passOver(in Input, text, source string, w console.Workflow) []string {
	if in.Elsewhere != "" {
		return []string{fmt.Sprintf("%s: %s (%s): %s; remove it, or set command to %s", in.Name, in.shown(text), source, in.Elsewhere, Names(in.For))}
	}
	if bySaid(source) {
		return nil
	}
	if strings.HasPrefix(source, "--") {
		return []string{fmt.Sprintf("%s (%s): the command %s does not use it, only %s; remove it, or set command", in.Name, source, s.Command, Names(in.For))}
	}
	if w.RunURL != "" && text != in.Default {
		s.Unused = append(s.Unused, in.Name)
	}
	return nil
}

// lookUp finds the input's text and where it comes from; the source of a
// default is empty.
func (in Input) lookUp(flags map[string]string, getenv func(string) string) (text, source string) {
	if text := strings.TrimSpace(flags[in.Name]); text != "" && !in.Secret {
		return text, "--" + in.Name
	}
	for _, name := range in.EnvNames() {
		text := getenv(name)
		switch trimmed := strings.TrimSpace(text); {
		case trimmed == "":
		case in.Blanks:
			return strings.Trim(text, "\r\n"), name
		default:
			return trimmed, name
		}
	}
	return in.Default, ""
}

// complain says what is wrong with a value.
func (in Input) complain(text, source string, err error) string {
	reason := err.Error()
	if !in.Address { // the reason quotes a part of the text, which may be an address all the same
		reason = in.withoutPassword(reason)
	}
	return fmt.Sprintf("%s: %s (%s): %s; for example: %s", in.Name, in.shown(text), source, reason, in.Example)
}

// shown is a value as an error quotes it, which a secret's never does.
func (in Input) shown(text string) string {
	if in.Secret {
		return "the value"
	}
	shown := in.withoutPassword(text)
	if len(shown) > 200 {
		shown = shown[:200] + "…"
	}
	return strconv.Quote(shown)
}

// withoutPassword is the text without what may be a password. Nobody can tell
// where one ends in an address that is wrong: everything before the last @ is
// taken for it, and everything in the query.
func (in Input) withoutPassword(text string) string {
	if !in.Address {
		return regexp.MustCompile(`//[^/@\s]*@`).ReplaceAllString(text, "//***@")
	}
	text = regexp.MustCompile(`(?is)^((?:https?|ssh|file):/*)?.*@`).ReplaceAllString(text, "${1}***@")
	return regexp.MustCompile(`(?s)([?#]).*`).ReplaceAllString(text, "${1}***")
}

// missing lists the inputs that the command needs and nobody gave.
func (s *Settings) missing(given origins) []string {
	var wrong []string
	for _, in := range inputsOf(s) {
		if given.has(in.Name) || !s.needs(in) {
			continue
		}
		how := "set the input " + in.Name + ", --" + in.Name + " or " + in.ShellName()
		if in.Secret {
			how = "set the input " + in.Name + " or " + in.ShellName()
		}
		wrong = append(wrong, fmt.Sprintf("%s: missing: expected the %s; %s; for example: %s", in.Name, strings.TrimPrefix(in.Usage, "the "), how, in.Example))
	}
	return wrong
}

// needs says whether the settings cannot do without the input. A diff with an
// image is the plan of a promotion and needs to know of what.
func (s *Settings) needs(in Input) bool {
	if in.Seen && s.Promote.Unseen {
		return false
	}
	return slices.Contains(in.Required, s.Command) || in.Planned && s.Command == Diff && !s.DiffsCheckout()
}
