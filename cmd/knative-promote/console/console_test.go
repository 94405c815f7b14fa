package console

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/consoletest"
)

// TestNoMasksOnGitLab has its runner, which prints the lines that have GitHub's mask a
// secret as they are, told to be GitHub's.
func TestNoMasksOnGitLab(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "outputs")
	r := New(consoletest.Environment("GITHUB_ACTIONS=true", "GITLAB_CI=true", "GITHUB_OUTPUT="+file), &out, &out)
	r.Hide("p@ss")
	r.Printf("waiting for p@ss\n")
	if got := out.String(); strings.Contains(got, "p@ss") || strings.Contains(got, "::") {
		t.Errorf("the log is %q", got)
	}
	if err := r.SetOutputs([]Output{{Name: "status", Value: "p@ss"}}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "***") {
		t.Errorf("the outputs are %q, error %v", text, err)
	}
}

func TestOnActions(t *testing.T) {
	t.Parallel()
	var out, stderr bytes.Buffer
	r := New(consoletest.Environment("GITHUB_ACTIONS=true", "RUNNER_DEBUG=1"), &out, &stderr)
	r.Hide("p@ss")
	r.Printf("before\n")
	r.Group("10 %\nsecond line")
	r.Printf("waiting for %s", "p@ss")
	r.Group("50 %")
	r.EndGroup()
	r.EndGroup()
	r.Error(Note{Title: "Gate: failed, twice", Text: "50% is bad\r\n::error::p@ss", File: "a,b.yaml", Line: 3})
	r.Warning(Note{Text: "careful"})
	r.Debugf("%d", 1)
	fmt.Fprintln(r, "from a library")
	want := `::add-mask::p%2540ss
::add-mask::p@ss
before
::group::10 %25 second line
waiting for ***
::endgroup::
::group::50 %25
::endgroup::
::error file=a%2Cb.yaml,line=3,title=Gate%3A failed%2C twice::50%25 is bad%0A::error::***
::warning::careful
::debug::1
::debug::from a library%0A
`
	if diff := cmp.Diff(want, out.String()); diff != "" || stderr.Len() > 0 {
		t.Errorf("stdout (-want +got):\n%s\nstderr: %s", diff, stderr.String())
	}
}

func TestOnTerminal(t *testing.T) {
	t.Parallel()
	var out, stderr bytes.Buffer
	r := New(consoletest.Environment("GITHUB_OUTPUT=/nowhere", "GITHUB_STEP_SUMMARY=/nowhere"), &out, &stderr)
	r.Hide("p@ss")
	r.Group("10 %")
	r.Printf("waiting for %s\nand more\n", "p@ss")
	r.EndGroup()
	r.Error(Note{Title: "Gate failed", Text: "why\x1b[31m", File: "a.yaml", Line: 3})
	r.Warning(Note{Text: "careful"})
	r.Debugf("nothing")
	wantOut := "▸ 10 %\n  waiting for ***\n  and more\n"
	wantErr := "a.yaml:3: error: Gate failed: why\\x1b[31m\nwarning: careful\n"
	if out.String() != wantOut || stderr.String() != wantErr {
		t.Errorf("stdout:\n%s\nstderr:\n%s", out.String(), stderr.String())
	}
	if err := errors.Join(r.SetOutputs([]Output{{"a", "b"}}), r.Summarize("x")); err != nil {
		t.Error(err)
	}
}

// hostile are texts that would be commands if a runner read them as they are.
var hostile = []string{
	"::error::x", " \t::set-output name=a::b", "\u00a0::add-mask::x", "\u200b::stop-commands::x", "\u00ad::error::x",
	"\x00::error::x", ":\u200d:error::x", "a\n::error::x", "a\r::error::x", "a\u2028::error::x", "a\u0085::error::x",
	"\ufe00::error::x", "\u3164::error::x", "\u034f::error::x", "\xff::error::x", "::\u200derror::x",
	"text ##[error]x", "##[set-output name=a]b", "#\u200d#[error]x", "##\ufe0f[error]x", "##[ERROR]x", "a##[b##[error]x",
	"%0A::error::x", "::error", "::%s::", "##[%d]", "::group::x\n::endgroup::",
}

func TestForeignTextIsNoCommand(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		checkForeign(t, text)
	}
}

// checkForeign speaks the text in every way and looks at what the runner
// would understand.
func checkForeign(t *testing.T, text string) {
	t.Helper()
	var out bytes.Buffer
	r := New(consoletest.Environment("GITHUB_ACTIONS=true"), &out, &out)
	r.Printf("%s", text)
	r.Printf("waiting: %s", text)
	if got := consoletest.Commands(out.String()); len(got) > 0 {
		t.Errorf("%q became commands %+v; printed %q", text, got, out.String())
	}
	out.Reset()
	r.Group(text)
	r.Error(Note{Title: text, File: text, Text: text})
	r.EndGroup()
	var names []string
	for _, c := range consoletest.Commands(out.String()) {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"group", "error", "endgroup"}, names); diff != "" {
		t.Errorf("%q (-want +got):\n%s\nprinted %q", text, diff, out.String())
	}
}

func FuzzForeignText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkForeign(t, text) })
}

func TestForeignTextStaysReadable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"image ghcr.io/acme/app:v2 [ready]":     "image ghcr.io/acme/app:v2 [ready]",
		"a :: b":                                "a :: b",
		"größer ✓ 漢字":                           "größer ✓ 漢字",
		"  ::error::x":                          `\  ::error::x`,
		"x ##[error]y":                          `x ##\[error]y`,
		"red \x1b[31m, hidden \u202e, bad \xff": "red \\x1b[31m, hidden \\u202e, bad \uFFFD",
	} {
		if got := disarm(printable(text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestWriteErrorsDoNotStopTheRun(t *testing.T) {
	t.Parallel()
	r := New(consoletest.Environment("GITHUB_ACTIONS=true"), broken{}, broken{})
	r.Hide("secret")
	r.Group("a")
	r.Printf("b")
	r.Error(Note{Text: "c"})
	r.EndGroup()
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestSummary(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "summary")
	if err := os.WriteFile(file, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := New(consoletest.Environment("GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+file), &bytes.Buffer{}, nil)
	r.Hide("p@ss")
	for _, text := range []string{"first, which is longer", "last p@ss"} {
		if err := r.Summarize(text); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("job summary: %d bytes are too many", len("before\n")+SummaryLimit+1)
	if err := r.Summarize(strings.Repeat("x", SummaryLimit)); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "before\nlast ***\n" {
		t.Errorf("summary %q, error %v", got, err)
	}
}
