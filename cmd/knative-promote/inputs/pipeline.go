package inputs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/internal/strictyaml"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/setting"
)

// FileKeys are the inputs that the pipeline file may say, and those that its guards rest on.
func FileKeys() pipeline.Keys {
	keys := pipeline.Keys{Check: CheckValue}
	for _, in := range All() {
		if in.Said != setting.Never || len(in.Of) > 0 {
			keys.All = append(keys.All, pipeline.Key{
				Input: in.Name, Guard: in.Said == setting.Guard, Of: in.Of, Unsaid: in.Said == setting.Never, Default: in.Default, Stricter: in.Stricter,
			})
		}
	}
	return keys
}

// CheckValue says what is wrong with a value of the pipeline file, by the name of
// the input that takes it.
func CheckValue(input, value string) error {
	in := named(All(), input)
	if err := in.Value.Set(value); err != nil {
		return fmt.Errorf("%w; for example: %s", err, in.Example)
	}
	return nil
}

// named is the row of an input.
func named(all []Input, name string) Input {
	return all[slices.IndexFunc(all, func(in Input) bool { return in.Name == name })]
}

// PipelineSchema is the JSON schema of the pipeline file, from the rows of the
// inputs that it may say and the types of their values.
func PipelineSchema() ([]byte, error) {
	all := All()
	return pipeline.Schema(FileKeys(), func(input string) pipeline.Value {
		in := named(all, input)
		return pipeline.Value{Kind: in.Value.Kind(), Usage: strings.ReplaceAll(in.Usage, "`", "")}
	})
}

// WantsPipeline tells whether the command asks the pipeline file.
func (s *Settings) WantsPipeline() bool { return !s.DiffsCheckout() }

// NeedsPipeline tells whether the command does nothing where there is such a file
// that cannot be read. No rollback waits until somebody has corrected it.
func (s *Settings) NeedsPipeline() bool { return s.Command == Promote || s.Command == Diff }

// For is the same command line for one environment of several. The images are
// given to those whose images come from nowhere else.
func (a Arguments) For(environment string) Arguments {
	a = a.with("environment", environment)
	a.oneOfSeveral = true
	return a
}

// Unseen is the same command line with --unseen.
func (a Arguments) Unseen() Arguments { return a.with("unseen", "true") }

func (a Arguments) with(name, text string) Arguments {
	a.flags = maps.Clone(a.flags)
	a.flags[name] = text
	return a
}

// A reading is what stands beside the table while the inputs are read: who sets
// one, and what the pipeline file says of the target.
type reading struct {
	args   Arguments
	getenv func(string) string
	file   pipeline.File
	rules  pipeline.Rules // of the target; the zero Rules where the file says nothing of it
	byHand bool           // the images are given in spite of the file, which a run may override

	checkout bool     // the file is of a checkout, of whatever a workflow has checked out, as a pull request
	unasked  []string // the addresses that it says, which no credential goes to
}

// begin finds out of which target the file is asked. The line is what is wrong
// with what names it.
func (s *Settings) begin(r *reading) (line string) {
	if len(r.file.Environments) == 0 {
		return ""
	}
	service, _ := r.asked("service")
	environment, source := r.asked("environment")
	command, _ := r.asked("command")
	if overlay, _ := r.asked("path"); overlay != "" {
		line = r.ofPath(overlay, service, command)
	} else if command == string(Prepare) && environment == "" {
		return "" // of all overlays that a pull request changes
	} else if several, is := severalOf(environment); is {
		s.Several, line = r.inOrder(several, source)
	} else if line = r.nowhere(service, environment, source); line == "" {
		r.rules = r.file.Rules(service, environment)
	}
	image, _ := r.asked("image")
	override, _ := r.asked("override")
	overrides, _ := parseOverride(override)
	r.byHand = image != "" && r.rules.Override && slices.Contains(overrides, guard.OverridePipeline)
	return line
}

// ofPath finds the rules of an overlay. No rollback is kept back by a file that has several.
func (r *reading) ofPath(overlay, service, command string) (line string) {
	folder, err := parseFolder(overlay)
	if err != nil {
		return "" // which is said of the input
	}
	if r.rules, err = r.file.Of(folder, service); err != nil && slices.Contains([]string{"", string(Promote), string(Diff)}, command) {
		return fmt.Sprintf("path: %q: %s: %v", overlay, pipeline.Name, err)
	}
	return ""
}

// asked is what somebody has set an input to, and where.
func (r *reading) asked(name string) (text, source string) { return r.set(named(All(), name)) }

// set is the same of a row.
func (r *reading) set(in Input) (text, source string) {
	text, source = in.lookUp(r.args.flags, r.getenv)
	if source == "" || text == in.Default && !strings.HasPrefix(source, "--") {
		return "", ""
	}
	return text, source
}

// nowhere says what is missing to find the target in the file.
func (r *reading) nowhere(service, environment, source string) string {
	known := strictyaml.Names(r.file.Environments)
	switch {
	case environment == "":
		return fmt.Sprintf("environment: missing: expected %s, which %s has; set environment, or path", known, pipeline.Name)
	case !slices.Contains(r.file.Environments, environment):
		return fmt.Sprintf("environment: %q (%s): %s has no such environment; expected %s, or path for an overlay that is not in it", environment, source, pipeline.Name, known)
	case service == "" && r.file.PerService():
		return fmt.Sprintf("service: missing: the path in %s is another one for each Service; set service, or path", pipeline.Name)
	}
	return ""
}

// severalOf are the names of several environments, with commas.
func severalOf(text string) (names []string, several bool) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, len(names) > 1
}

// inOrder are several environments in the order of the file.
func (r *reading) inOrder(names []string, source string) (ordered []string, line string) {
	for _, name := range names {
		if !slices.Contains(r.file.Environments, name) {
			return nil, fmt.Sprintf("environment: %q (%s): %s has no environment %s; expected some of %s", strings.Join(names, ","), source, pipeline.Name, name, strings.Join(r.file.Environments, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(r.file.Environments), func(name string) bool { return !slices.Contains(names, name) }), ""
}

// lookUp finds an input's text and where it comes from. What somebody sets comes
// before what the file says, and that before the default. What is left out by
// override has neither.
func (r *reading) lookUp(in Input) (text, source string) {
	if in.Name == "argocd-token" && r.rules.Known() {
		if text, source = r.tokenOf(r.rules.Environment); text != "" {
			return text, source
		}
	}
	text, source = in.lookUp(r.args.flags, r.getenv)
	if in.Name == "image" && r.args.oneOfSeveral && r.rules.Settings["from"].Text != "" {
		return "", ""
	}
	said, is := r.rules.Settings[in.Name]
	if asked, _ := r.set(in); asked != "" || !is {
		return r.resolved(in, text), source
	}
	if r.byHand && pipeline.OfSource(in.Name) {
		return in.Default, ""
	}
	if r.checkout && in.Address {
		r.unasked = append(r.unasked, in.Name)
		return in.Default, ""
	}
	return said.Text, fmt.Sprintf("%s:%d", pipeline.Name, said.Line)
}

// resolved are the paths of the environments that from names by their names.
func (r *reading) resolved(in Input, text string) string {
	if in.Name != "from" || text == "" || !r.rules.Known() {
		return text
	}
	var paths []string
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		name = strings.TrimSpace(name)
		if slices.Contains(r.file.Environments, name) {
			name = r.file.Path(r.rules.Service, name)
		} else if folder, err := parseFolder(name); err == nil && name != "" {
			name = folder // as the file's is written
		}
		paths = append(paths, name)
	}
	return strings.Join(paths, ",")
}

// bySaid tells whether a source is the pipeline file.
func bySaid(source string) bool { return strings.HasPrefix(source, pipeline.Name+":") }

// looser lists the inputs that are less than the file says, unless the run
// overrides that and the file permits it.
func looser(s *Settings, r *reading, given origins) (wrong []string) {
	if s.Command != Promote && s.Command != Diff {
		return nil
	}
	asked := slices.Contains(s.Promote.Guards.Override, guard.OverridePipeline)
	if asked && r.rules.Override {
		return nil
	}
	fix := "remove it"
	switch {
	case asked:
		fix += fmt.Sprintf("; override: guards is not permitted: %s does not say override: true in %s", r.rules.Environment, pipeline.Name)
	case r.rules.Override:
		fix += ", or set override to guards, with a reason"
	}
	for _, l := range r.rules.Looser(s.Promote.Guards.Given) {
		source := given.source(l.Input)
		if source == "" || bySaid(source) {
			continue // nobody has asked for it
		}
		wrong = append(wrong, fmt.Sprintf("%s: %q (%s): less than what %s:%d says for %s: expected %s; %s", l.Input, l.Given, source, pipeline.Name, l.Line, r.rules.Environment, l.Expected(), fix))
	}
	return wrong
}

// reachable tells whether nothing is wrong with what it takes to read the infra
// repository.
func reachable(s *Settings, given origins, w console.Workflow) bool {
	for _, line := range []string{checkTransport(s, given), checkClear(s, given, w), checkApp(s, given), checkFork(s, w)} {
		if line != "" {
			return false
		}
	}
	return s.Remote.URL != ""
}
