package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/internal/fake/promotetest"
)

// TestCrashes ends the program at every point of a run, by SIGKILL, by SIGINT
// and by a panic, and runs it again: then the infra repository and the traffic
// are as after a run that nobody ended, with one commit a step. Without -all, it
// does this at some points of each run.
//
// The points are the lines that the program prints when a step, a commit or a
// gate begins or ends, each push, the comment, and each change that is asked of the
// infra repository's forge: as it arrives at the server, and when it has been done,
// but not answered; and the first request of each gate in a step. So what is new in a run has its points by itself;
// testdata/crashpoints.txt lists them.
func TestCrashes(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found, crashes := map[string][]string{}, 0
	for n, c := range crashCases() {
		if n%oneOf(7, 1) != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := c.whole(t)
			ends := c.ends(t, whole, n)
			mu.Lock()
			defer mu.Unlock()
			found[c.name] = whole.points
			crashes += ends
		})
	}
	t.Cleanup(func() {
		points := checkPoints(t, found)
		t.Logf("reliability: %d points of a run at which it is killed, interrupted or panics: %d runs ended so, each again as if nobody had", points, crashes)
	})
}

// ends has a run end at its points in every way, and counts how often.
func (c crashCase) ends(t *testing.T, whole wholeRun, shift int) (times int) {
	for i, how := range []string{"KILL", "INT", "PANIC"} {
		for _, point := range sampled(whole.points, how, shift+i) {
			times++
			t.Run(point+"/"+how, func(t *testing.T) {
				t.Parallel()
				c.crash(t, whole, point, how)
			})
		}
	}
	return times
}

// sampled are the points at which a run is ended so: without -all a sample, from one
// that is another in each case. A panic at a server is the same as one between two
// lines.
func sampled(points []string, how string, shift int) []string {
	if how == "PANIC" {
		points = slices.DeleteFunc(slices.Clone(points), remote)
	}
	if len(points) == 0 {
		return nil
	}
	var some []string
	step := oneOf(144, 24)
	for i := shift * 5 % min(step, len(points)); i < len(points); i += step {
		some = append(some, points[i])
	}
	return some
}

// checkPoints compares the points of the runs with those that are written down, and
// counts them. The file is written where all runs were made.
func checkPoints(t *testing.T, found map[string][]string) (count int) {
	t.Helper()
	var lines []string
	for _, c := range crashCases() {
		for _, point := range found[c.name] {
			lines = append(lines, c.name+": "+point+"\n")
		}
	}
	file := filepath.Join("testdata", "crashpoints.txt")
	if golden.Update() && len(found) == len(crashCases()) {
		golden.File(t, file, strings.Join(lines, ""))
		return len(lines)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), func(line string) bool {
		name, _, _ := strings.Cut(line, ": ")
		return found[name] == nil
	})
	if diff := cmp.Diff(known, lines); diff != "" {
		t.Errorf("the points of the runs (-%s +found), which -more -update writes:\n%s", file, diff)
	}
	return len(lines)
}

// A wholeRun is what a run that nobody ends leaves.
type wholeRun struct {
	points   []string
	tree     map[string]string // content by path
	subjects []string
	traffic  []string
	comments []string // the heading of each
	shown    []string // by the infra repository's forge
}

func (c crashCase) whole(t *testing.T) wholeRun {
	t.Helper()
	w := c.world(t)
	var g wholeRun
	remotes := w.watchRemotes()
	code, out := w.program(t, c.env, c.args)
	if code != c.end() {
		t.Fatalf("ended with %s, want %s:\n%s", code, c.end(), out)
	}
	wire := &tripwire{}
	for line := range strings.Lines(out) {
		if point := wire.pointOf(line); point != "" {
			g.points = append(g.points, point)
		}
	}
	g.points = slices.DeleteFunc(append(g.points, *remotes...), func(point string) bool { return !strings.HasPrefix(point, c.only) })
	slices.Sort(g.points) // gates are asked side by side, and the comment is written meanwhile
	g.tree, g.subjects, g.traffic, g.comments, g.shown = w.content(t), w.subjects(t), w.split(), w.titles(), w.shown()
	return g
}

// crash ends a run at the point and lets another one end it well.
func (c crashCase) crash(t *testing.T, whole wholeRun, point, how string) {
	w := c.world(t)
	reached := w.crashAt(point, how)
	code, out := w.program(t, append([]string{"CRASH_AT=" + point, "CRASH_HOW=" + how}, c.env...), c.args)
	if remote(point) && !reached() {
		t.Fatalf("the run did not come to %q:\n%s", point, out)
	}
	if want := c.endsBy(how); !slices.Contains(want, code) {
		t.Errorf("the run ended with %s, want one of %v:\n%s", code, want, out)
	}
	w.settle()
	w.crashAt("", "")
	code, again := w.program(t, append([]string{"GITHUB_RUN_ATTEMPT=2"}, c.env...), c.args)
	if code != c.end() {
		t.Errorf("after %s the next run ended with %s, want %s:\n%s\n%s", how, code, c.end(), out, again)
	}
	if diff := cmp.Diff(whole.tree, w.content(t)); diff != "" {
		t.Errorf("the tree (-uninterrupted +crashed):\n%s", diff)
	}
	commits := w.subjects(t)
	open := whole.subjects[:len(whole.subjects)-1] // without the commit that says that the gates have passed
	for _, first := range [][]string{whole.subjects, open} {
		if c.exit != 0 && slices.Equal(commits, slices.Concat(first, whole.subjects)) {
			commits = whole.subjects // all was rolled back: the next run tried once more, from the beginning
		}
	}
	if diff := cmp.Diff(whole.subjects, commits); diff != "" {
		t.Errorf("commits (-uninterrupted +crashed):\n%s\n%s\n%s", diff, out, again)
	}
	if err := w.await("", func() bool { return slices.Equal(w.split(), whole.traffic) }); err != nil {
		t.Errorf("the data path does %v, want %v", w.split(), whole.traffic)
	}
	if comments := w.titles(); !slices.Equal(comments, whole.comments) && !(len(comments) == 1 && strings.HasSuffix(comments[0], ": nothing to change")) {
		t.Errorf("comments are %q, want %q", comments, whole.comments)
	}
	shown := w.shown()
	if c.exit != 0 && len(shown) > 0 && strings.HasSuffix(shown[0], ": inactive") {
		shown = shown[1:] // the next run began another promotion
	}
	if more := len(shown) - len(whole.shown); c.exit != 0 && more > 0 && more <= len(whole.shown) && slices.Equal(shown[:more], whole.shown[:more]) {
		shown = shown[more:] // the next run tried once more, after this one had shown so much
	}
	if diff := cmp.Diff(whole.shown, shown); diff != "" {
		t.Errorf("the forge shows (-uninterrupted +crashed):\n%s\n%s\n%s", diff, out, again)
	}
	if _, err := w.checkPromises(); err != nil {
		t.Error(err)
	}
}

// program runs the program in the world, and tells how it ended and what it
// printed.
func (w *world) program(t *testing.T, env, args []string) (code, out string) {
	t.Helper()
	p := w.begun(t, env, args)
	if !p.endsInTime() {
		t.Errorf("the program did not end in time")
	}
	return p.exit(), p.out.String() + p.err.String()
}

// content is the tree at the tip. In the record, times and commits are left
// out, and what came before: a run that tries once more has an entry of the one
// that was ended.
func (w *world) content(t *testing.T) map[string]string {
	t.Helper()
	files, err := promotetest.Files(w.bare, "main")
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for name, file := range files {
		text := regexp.MustCompile(`(?m)^# (past:|  - |    |checksum: ).*\n`).ReplaceAllString(string(file.Data), "")
		text = regexp.MustCompile(`(?m)^(# (?:promotion|repository|base|started|passed|commit): ).*`).ReplaceAllString(text, "${1}_")
		content[name] = text
	}
	return content
}

// subjects are those of all commits since the seed, oldest first.
func (w *world) subjects(t *testing.T) []string {
	t.Helper()
	out, err := gittest.Git(w.bare, nil, "log", "--reverse", "--format=%s", w.seed+"..main")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(out, "\n"), func(subject string) bool { return subject == "" })
}

var heading = regexp.MustCompile(`(?m)^#.*`)

// titles are the headings of the pull request's comments.
func (w *world) titles() []string {
	var titles []string
	for _, c := range w.hub.Comments(7) {
		titles = append(titles, heading.FindString(c.Body()))
	}
	return titles
}

// remote tells whether a point is at a server, not at a line.
func remote(point string) bool {
	return slices.ContainsFunc([]string{"ask ", "comment ", "forge ", "push "}, func(kind string) bool { return strings.HasPrefix(point, kind) })
}

// watchRemotes notes the points at the servers.
func (w *world) watchRemotes() *[]string {
	points := &[]string{}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pushes, w.written, w.asked = 0, 0, map[string]int{}
	w.atPoint = func(point string) bool {
		*points = append(*points, point)
		return false
	}
	return points
}

// crashAt ends the newest program when the servers come to a point, and tells
// whether they did.
func (w *world) crashAt(point, how string) (reached func() bool) {
	there := false
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pushes, w.written, w.asked = 0, 0, map[string]int{}
	w.atPoint = func(at string) bool {
		if at != point {
			return false
		}
		there = true
		p := w.runs[len(w.runs)-1]
		if how == "INT" {
			p.interrupt()
			return false
		}
		_ = p.command.Process.Kill()
		return true
	}
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return there
	}
}
