package inputs

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/acme/knative-promote/promote/pipeline"
)

// Arguments are a command line as it was given, before any value is looked at.
type Arguments struct {
	Help, Version bool // somebody asks for these
	command       string
	flags         map[string]string
	wrong         []string // what is not an argument at all
	oneOfSeveral  bool     // the environment is one of several that were asked for
}

// Parse sorts the command line into flags and the command. It goes on after
// what it does not know, so that everything wrong is said at once.
func Parse(args []string) Arguments {
	inputs, got := All(), Arguments{flags: map[string]string{}}
	set := flag.NewFlagSet("knative-promote", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&got.Version, "version", false, "")
	for _, in := range inputs {
		set.Var(rawFlag{in, &got}, in.Name, "")
	}
	for len(args) > 0 {
		err := set.Parse(args)
		args = set.Args()
		switch {
		case errors.Is(err, flag.ErrHelp):
			got.Help = true
		case err != nil:
			got.wrong = append(got.wrong, flagProblem(err, inputs))
		case len(args) > 0:
			got.positional(args[0])
			args = args[1:]
		}
	}
	return got
}

func (a *Arguments) positional(arg string) {
	if a.command != "" {
		a.wrong = append(a.wrong, fmt.Sprintf("%q: expected no argument after the command %s; every input is a flag, see --help", arg, a.command))
		return
	}
	a.command = arg
}

// flagProblem says in our words what package flag found wrong.
func flagProblem(err error, inputs []Input) string {
	if name, bare := strings.CutPrefix(err.Error(), "flag needs an argument: -"); bare {
		return fmt.Sprintf("--%s: expected a value after it", name)
	}
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err.Error()
	}
	names := []string{"--help", "--version"}
	for _, in := range inputs {
		if !in.Secret {
			names = append(names, "--"+in.Name)
		}
	}
	return fmt.Sprintf("--%s: unknown flag%s; see --help", name, didYouMean("--"+name, names))
}

// A rawFlag keeps a flag's text for later: the value is checked when all of
// them are known, and a secret's is dropped.
type rawFlag struct {
	in   Input
	into *Arguments
}

func (f rawFlag) String() string { return "" }

// IsBoolFlag lets --dry-run stand for --dry-run=true.
func (f rawFlag) IsBoolFlag() bool {
	return f.in.Value.Kind() == pipeline.Flag
}

func (f rawFlag) Set(text string) error {
	if f.in.Secret {
		f.into.flags[f.in.Name] = ""
		f.into.wrong = append(f.into.wrong, fmt.Sprintf("--%s: a secret is never a flag, because other processes can read it; set %s instead", f.in.Name, f.in.ShellName()))
		return nil
	}
	if before, given := f.into.flags[f.in.Name]; given && before != text {
		f.into.wrong = append(f.into.wrong, fmt.Sprintf("--%s: given twice, with different values; expected it once: several values stand in one", f.in.Name))
	}
	f.into.flags[f.in.Name] = text
	return nil
}

// didYouMean names the nearest of the names, where one is near.
func didYouMean(text string, names []string) string {
	best, distance := "", max(2, len(text)/3)+1
	for _, name := range names {
		if d := editDistance(text, name); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
