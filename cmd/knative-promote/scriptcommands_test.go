package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// commands are what scripts can say beside testscript's own words.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, *world, []string){
		"wantexit":   wantexit,        // wantexit CODE[|CODE] ARG...: run the program; with & as the last argument in the background
		"finish":     finishes,        // finish CODE: wait for the program in the background
		"await":      await,           // await REGEXP: until the program in the background has printed it
		"signal":     signalTo,        // signal INT|TERM|KILL|CONT: send it to the program in the background
		"infra":      infra,           // see there
		"traffic":    traffic,         // traffic v1.0.0=90 v2.0.0=10:candidate: what the data path does
		"gitlog":     gitlog,          // gitlog: print the subjects since the seed, oldest first
		"comment":    comment,         // comment PULL: print the one comment on it; with a count, how many
		"argo":       argocd,          // see there
		"pull":       contribute,      // see there
		"github":     hub,             // github down|up|unapproved|no-statuses|no-deployments
		"prometheus": startPrometheus, // see there
		"status":     commitStatus,    // see there
		"deployment": deployment,      // deployment: print those of the infra repository
		"proposal":   proposals,       // see there
		"sign":       sign,            // see there
		"output":     outputIs,        // output NAME REGEXP: what the last program told the runner
	}
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for name, do := range all {
		commands[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("unsupported: ! %s", name)
			}
			do(ts, ts.Value("world").(*world), args)
		}
	}
	return commands
}

func wantexit(ts *testscript.TestScript, w *world, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: wantexit code [arg...] [&]")
	}
	background := args[len(args)-1] == "&"
	code, args := args[0], slices.DeleteFunc(args[1:], func(arg string) bool { return arg == "&" })
	p := w.started(ts, background, args)
	if !background {
		w.ends(ts, p, code)
	}
}

// started is the program at work, in a process of its own where the world says so.
func (w *world) started(ts *testscript.TestScript, background bool, args []string) *process {
	if w.processes || background && w.signals {
		return w.startProcess(ts, args)
	}
	return w.runWithin(ts.MkAbs("."), environmentOf(ts), args)
}

func finishes(ts *testscript.TestScript, w *world, args []string) {
	w.ends(ts, w.background(ts), args[0])
}

// background is the oldest program that nobody has waited for.
func (w *world) background(ts *testscript.TestScript) *process {
	for _, p := range w.runs {
		if p.outputs == nil {
			return p
		}
	}
	ts.Fatalf("there is no program in the background")
	return nil
}

// ends waits for a program and shows what it printed.
func (w *world) ends(ts *testscript.TestScript, p *process, code string) {
	if !p.endsInTime() {
		ts.Logf("%s%s", p.out.String(), p.err.String())
		ts.Fatalf("the program did not end in time")
	}
	fmt.Fprint(ts.Stdout(), p.out.String())
	fmt.Fprint(ts.Stderr(), p.err.String())
	p.outputs, w.last = []consoletest.Output{}, p
	if text, err := os.ReadFile(p.output); err == nil {
		p.outputs, err = consoletest.Outputs(string(text))
		ts.Check(err)
	}
	if got := p.exit(); !slices.Contains(strings.Split(code, "|"), got) {
		ts.Logf("%s%s", p.out.String(), p.err.String())
		ts.Fatalf("the program ended with %s, want %s", got, code)
	}
}

func await(ts *testscript.TestScript, w *world, args []string) {
	p, want := w.background(ts), regexp.MustCompile(args[0])
	err := w.await(args[0], func() bool {
		select {
		case <-p.done:
			return true
		default:
			return want.MatchString(p.out.String())
		}
	})
	if err == nil && !want.MatchString(p.out.String()) {
		err = errors.New("the program ended without it")
	}
	if err != nil {
		ts.Logf("%s", p.out.String())
		ts.Fatalf("await %q: %v", args[0], err)
	}
}

func signalTo(ts *testscript.TestScript, w *world, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}
	p := w.background(ts)
	if p.command == nil {
		ts.Fatalf("the program has no process: write signals into the file world")
	}
	began := time.Now()
	ts.Check(p.command.Process.Signal(signals[args[0]]))
	if args[0] == "STOP" || args[0] == "CONT" {
		return
	}
	select {
	case <-p.done:
	case <-time.After(7 * time.Second):
		ts.Fatalf("7 s after SIG%s the program still runs", args[0])
	}
	ts.Logf("ended %s after the signal", time.Since(began).Round(time.Millisecond))
}

// infra does what other people do to the infra repository:
//
//	infra commit MESSAGE DIR   commit the files of a folder
//	infra race N               somebody else comes first before the next N pushes
//	infra before N MESSAGE DIR commit the files of a folder right before the Nth push of all arrives
//	infra protect [BRANCH]     refuse pushes to a branch, main if no other, as a protected one does
//	infra commits N            fail unless there are N commits since the seed, beside those that say that gates have passed
//	infra passed N             fail unless there are N commits since the seed that say that gates have passed
//	infra show FILE [COMMIT]   print a file
//	infra reference REF [COMMIT]  put a reference beside the branches on a commit, main if no other; nowhere: delete it; Argo CD looks then
//	infra older                make all commits sixty days older, as others than records name
//	infra head NAME [ARG...]   put what git rev-parse says, of the tip if nothing else, into the environment
func infra(ts *testscript.TestScript, w *world, args []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch args[0] {
	case "commit":
		files, err := filesBelow(ts.MkAbs(args[2]))
		ts.Check(err)
		ts.Check(w.commit(args[1], files))
	case "before":
		push, err := strconv.Atoi(args[1])
		ts.Check(err)
		files, err := filesBelow(ts.MkAbs(args[3]))
		ts.Check(err)
		w.before[push] = foreign{args[2], files}
	case "race":
		w.races, _ = strconv.Atoi(args[1])
	case "protect":
		name := "refs/heads/" + append(args[1:], "main")[0]
		hook := "#!/bin/sh\nwhile read old new name; do\n  [ $name = " + name + " ] || continue\n" +
			"  echo 'GH006: Protected branch update failed for " + name + ".' >&2\n  exit 1\ndone\n"
		ts.Check(os.MkdirAll(filepath.Join(w.bare, "hooks"), 0o755))
		ts.Check(os.WriteFile(filepath.Join(w.bare, "hooks", "pre-receive"), []byte(hook), 0o755))
	case "commits", "passed":
		passed := "--grep=^Promotion-Passed: "
		count := []string{"rev-list", "--count", passed, w.seed + "..main"}
		if args[0] == "commits" {
			count = []string{"rev-list", "--count", "--invert-grep", passed, w.seed + "..main"}
		}
		if got := w.git(ts, count...); got != args[1] {
			ts.Fatalf("there are %s %s since the seed, want %s", got, args[0], args[1])
		}
	case "show":
		fmt.Fprintln(ts.Stdout(), w.git(ts, "show", append(args[2:], "main")[0]+":"+args[1]))
	case "reference":
		if to := append(args[2:], "main")[0]; to == "nowhere" {
			w.git(ts, "update-ref", "-d", args[1])
		} else {
			w.git(ts, "update-ref", args[1], to)
		}
		w.argo.Refresh("the-app")
	case "older":
		w.older(ts)
	case "head":
		of := args[2:]
		if len(of) == 0 {
			of = []string{"main"}
		}
		ts.Setenv(args[1], w.git(ts, append([]string{"rev-parse"}, of...)...))
	default:
		ts.Fatalf("infra: unknown word %q", args[0])
	}
}

func (w *world) git(ts *testscript.TestScript, args ...string) string {
	out, err := gittest.Git(w.bare, nil, args...)
	ts.Check(err)
	return out
}

func traffic(ts *testscript.TestScript, w *world, args []string) {
	if args[0] == "-wait" {
		args = args[1:]
		if w.await("", func() bool { return slices.Equal(w.split(), sorted(args)) }) == nil {
			return
		}
	}
	if got := w.split(); !slices.Equal(got, sorted(args)) {
		ts.Fatalf("the data path does %v, want %v", got, args)
	}
}

func sorted(words []string) []string { return slices.Sorted(slices.Values(words)) }

// split is what the data path does: version=percent[:tag].
func (w *world) split() []string {
	var parts []string
	for _, target := range w.argo.Traffic(namespace, w.service) {
		part := w.versionOf(target) + "=" + strconv.Itoa(knative.Percent(target))
		if target.Tag != "" {
			part += ":" + target.Tag
		}
		parts = append(parts, part)
	}
	return sorted(parts)
}

func (w *world) versionOf(target servingv1.TrafficTarget) string {
	revision := w.argo.Revision(namespace, target.RevisionName)
	if revision == nil {
		return "gone"
	}
	image := revision.Spec.Containers[0].Image
	_, tag, digest := kustomize.SplitImage(image)
	return cmp.Or(tag, digest)
}

func gitlog(ts *testscript.TestScript, w *world, _ []string) {
	log := w.git(ts, "log", "--reverse", "--format=%s", w.seed+"..main")
	log = regexp.MustCompile(`\b[0-9a-f]{8}\b`).ReplaceAllString(log, "REVISION")
	fmt.Fprintln(ts.Stdout(), log)
}

func comment(ts *testscript.TestScript, w *world, args []string) {
	pull, err := strconv.Atoi(args[0])
	ts.Check(err)
	comments := w.hub.Comments(pull)
	want := append(args[1:], "1")[0]
	if got := strconv.Itoa(len(comments)); got != want {
		ts.Fatalf("pull request %d has %s comments, want %s", pull, got, want)
	}
	for _, c := range comments {
		fmt.Fprintf(ts.Stdout(), "%s (%d versions)\n", c.Body(), len(c.Bodies))
	}
}

func hub(ts *testscript.TestScript, w *world, args []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hubDown = args[0] == "down"
	if args[0] == "unapproved" {
		w.hub.SetApprovals()
	}
	w.hub.App.Lacks, _ = strings.CutPrefix(args[0], "no-")
}

func outputIs(ts *testscript.TestScript, w *world, args []string) {
	for _, o := range w.last.outputs {
		if o.Name != args[0] {
			continue
		}
		if !regexp.MustCompile(`(?s)^(` + args[1] + `)$`).MatchString(o.Value) {
			ts.Fatalf("output %s is %q, want %s", o.Name, o.Value, args[1])
		}
		return
	}
	ts.Fatalf("there is no output %s", args[0])
}
