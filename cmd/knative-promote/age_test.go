package main

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

var deep = flag.Bool("deep", false, "let BenchmarkAge take a branch of 500,000 commits too")

// BenchmarkAge runs the commands on branches of growing age, whose commits are
// all by others and none of which has a promotion: it must not matter to them.
// Each figure is the processor time of a whole program, but for peak-MiB.
func BenchmarkAge(b *testing.B) {
	ages := []int{50, 5_000, 50_000}
	if *deep {
		ages = append(ages, 500_000)
	}
	for _, commits := range ages {
		b.Run(fmt.Sprintf("commits=%d", commits), func(b *testing.B) {
			w := worldOfAge(b, commits)
			for b.Loop() {
				const image = "ghcr.io/acme/product-import:"
				most := 0
				for _, c := range []struct{ name, args string }{
					{"promote-10", "promote --image " + image + "v2.0.0 --steps 10"},
					{"resume-100", "promote --image " + image + "v2.0.0 --steps 10,100"},
					{"history", "history"},
					{"rollback", "rollback"},
				} {
					milliseconds, peak := w.cost(b, strings.Fields(c.args))
					b.ReportMetric(milliseconds, c.name+"-cpu-ms")
					most = max(most, peak)
				}
				b.ReportMetric(float64(most>>20), "peak-MiB")
			}
		})
	}
}

// worldOfAge is a world whose branch has so many more commits.
func worldOfAge(b *testing.B, commits int) *world {
	b.Helper()
	env := &testscript.Env{WorkDir: b.TempDir(), Values: map[any]any{}}
	w, err := newWorld(env)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.close)
	w.vars = env.Vars
	var stream bytes.Buffer
	for i := range commits {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter x <x@example.com> %d +0000\ndata 4\nGrow\n", 1_700_000_000+i)
		if i == 0 {
			stream.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline notes/%d\ndata 2\n%d\n", i%60, i%10)
	}
	for _, args := range [][]string{
		{"fast-import", "--quiet"},
		// As hosts keep their repositories.
		{"-c", "pack.writeReverseIndex=true", "repack", "-a", "-d", "-F", "--quiet", "--write-bitmap-index"},
		{"commit-graph", "write", "--reachable"},
	} {
		if _, err := gittest.Git(w.bare, &stream, args...); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

// cost runs the program, and tells the milliseconds of processor time and the
// bytes of memory that it took.
func (w *world) cost(b *testing.B, args []string) (milliseconds float64, peak int) {
	b.Helper()
	status := filepath.Join(b.TempDir(), "status")
	p := w.begun(b, []string{"STATUS_FILE=" + status}, args)
	if !p.endsInTime() || p.exit() != "0" {
		b.Fatalf("%v ended with %s:\n%s%s", args, p.exit(), p.out.String(), p.err.String())
	}
	state := p.command.ProcessState
	return float64((state.UserTime() + state.SystemTime()) / time.Millisecond), kilobytes(b, status, "VmHWM:") << 10
}
