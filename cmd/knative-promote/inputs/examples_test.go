package inputs

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/consoletest"
)

// TestEveryInputCounts gives each input its example, beside those that it means nothing without:
// the settings are others then than without it, or what is wrong names it. An example may be what
// an input is already; another value counts then.
func TestEveryInputCounts(t *testing.T) {
	t.Parallel()
	all := map[string]Input{}
	for _, in := range All() {
		all[in.Name] = in
	}
	for _, in := range All() {
		t.Run(in.Name, func(t *testing.T) {
			t.Parallel()
			before, err := read(t, consoletest.Enough(beside(all, in)...))
			if err != nil {
				t.Fatalf("without it: %v", err)
			}
			counts := func(value string) bool {
				after, err := read(t, consoletest.Enough(append(beside(all, in), in.EnvNames()[0]+"="+value)...))
				if err != nil {
					return strings.Contains(err.Error(), in.Name+" (") || strings.Contains(err.Error(), "("+in.EnvNames()[0]+")")
				}
				before.kept, after.kept = nil, nil // they are of every input
				return !cmp.Equal(before, after, cmp.Exporter(func(reflect.Type) bool { return true }), ignoreFuncs())
			}
			if !counts(in.Example) && !counts(in.Example+"x") {
				t.Errorf("%s: %q changes no setting", in.Name, in.Example)
			}
		})
	}
}

// beside are the environment's lines that an input needs: its command, and the inputs with which it means something.
func beside(all map[string]Input, in Input) (lines []string) {
	if len(in.For) > 0 && in.For[0] != Promote {
		lines = append(lines, "INPUT_COMMAND="+string(in.For[0]))
	}
	for with := in.With; with != ""; with = all[with].With {
		lines = append(lines, all[with].ShellName()+"="+all[with].Example)
	}
	if in.Name == "environment" {
		lines = append(lines, "INPUT_IMAGE=unchanged") // the pipeline file may say what to promote
	}
	return lines
}

func ignoreFuncs() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() != nil && p.Last().Type().Kind() == reflect.Func }, cmp.Ignore())
}
