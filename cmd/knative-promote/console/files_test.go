package console

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/consoletest"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "output")
	r := New(consoletest.Environment("GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+file), &bytes.Buffer{}, nil)
	r.Hide("p@ss")
	first := []Output{{"status", "promoted"}, {"diff", "-a\n+b\n"}, {"url", ""}}
	if err := r.SetOutputs(first); err != nil {
		t.Fatal(err)
	}
	if err := r.SetOutputs([]Output{{"url", "https://p@ss"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := consoletest.Outputs(string(text))
	want := []consoletest.Output{{Name: "status", Value: "promoted"}, {Name: "diff", Value: "-a\n+b\n"}, {Name: "url"}, {Name: "url", Value: "https://***"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("outputs (-want +got):\n%s\nerror: %v\nfile: %q", diff, err, text)
	}
	if err := r.SetOutputs([]Output{{"a\nb", "x"}}); err == nil || err.Error() != `output "a\nb": not a name` {
		t.Errorf("bad name: error %v", err)
	}
}

func TestOutputFileMissing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "no", "such", "folder")
	r := New(consoletest.Environment("GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+file, "GITHUB_STEP_SUMMARY="+file), &bytes.Buffer{}, nil)
	want := "telling the runner: open " + file + ": no such file or directory"
	if err := r.SetOutputs([]Output{{"a", "b"}}); err == nil || err.Error() != want {
		t.Errorf("outputs: error %v, want %s", err, want)
	}
	if err := r.Summarize("a"); err == nil || err.Error() != want {
		t.Errorf("summary: error %v, want %s", err, want)
	}
}

func TestLongOutputIsCutAtALine(t *testing.T) {
	t.Parallel()
	got := cutLines(strings.Repeat("+ä\n", outputLimit), outputLimit)
	lines := strings.Split(got, "\n")
	if len(got) > outputLimit || lines[len(lines)-1] != "(cut here: the text is too long)" || lines[len(lines)-2] != "+ä" {
		t.Errorf("%d bytes, the last lines are %q", len(got), lines[len(lines)-2:])
	}
}

// FuzzOutput gives the runner any value, beside a value that follows it, and
// reads both back as the runner does.
func FuzzOutput(f *testing.F) {
	for _, value := range []string{"", "a", "a\n", "\n", "a\r\nb", "x<<EOF\ny\nEOF", "status=promoted", "mark", "a\nmark\nstatus=promoted", "\xff\x00", "\ufeff"} {
		f.Add(value, "mark")
	}
	f.Fuzz(func(t *testing.T, value, mark string) {
		if mark == "" || strings.Trim(strings.ToLower(mark), "abcdefghijklmnopqrstuvwxyz234567") != "" {
			return // never drawn
		}
		entry, err := outputEntry("diff", value, mark)
		if strings.Contains(value, mark) {
			if err == nil {
				t.Fatalf("the mark %q in the value %q is not refused", mark, value)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := consoletest.Outputs(entry + "status=held\n")
		want := []consoletest.Output{{Name: "diff", Value: cutLines(strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", "\uFFFD"), "\uFFFD"), outputLimit)}, {Name: "status", Value: "held"}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("value %q, mark %q (-want +got):\n%s\nerror: %v", value, mark, diff, err)
		}
	})
}
