package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"
)

// A runner is where the program speaks: to the GitHub Actions runner in its
// protocol, and to a terminal in plain lines. Any text given to it may come
// from outside: secrets are hidden in it, and it never becomes a workflow
// command (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
//
// It never fails: a run must not stop half-way because nobody reads its log.
type runner struct {
	onActions bool
	debug     bool
	out, err  io.Writer
	commands  *githubactions.Action // nothing else writes workflow commands
	output    string                // file of the step's outputs
	summary   string                // file of the step's summary

	mu      sync.Mutex
	group   bool     // a group is open
	secrets []string // longest first
	start   int64    // of our part of the summary, in bytes
	begun   bool     // our part of the summary is begun
}

// newRunner speaks the runner's protocol where the environment is an Actions
// run's, which takes everything from stdout, in order.
func newRunner(getenv func(string) string, stdout, stderr io.Writer) *runner {
	r := &runner{
		onActions: getenv("GITHUB_ACTIONS") == "true",
		debug:     getenv("RUNNER_DEBUG") == "1",
		out:       stdout,
		err:       stderr,
		commands:  githubactions.New(githubactions.WithWriter(patient{stdout}), githubactions.WithGetenv(getenv)),
	}
	if r.onActions {
		r.err = stdout
		r.output, r.summary = getenv("GITHUB_OUTPUT"), getenv("GITHUB_STEP_SUMMARY")
	}
	return r
}

// patient hides write errors from go-githubactions, which panics on them.
type patient struct{ io.Writer }

func (p patient) Write(text []byte) (int, error) {
	_, _ = p.Writer.Write(text)
	return len(text), nil
}

// Hide keeps secrets, and what is commonly derived from them, out of all that
// is printed or reported from here on. On Actions the runner masks them too.
func (r *runner) Hide(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, form := range secretForms(secrets) {
		if slices.Contains(r.secrets, form) {
			continue
		}
		r.secrets = append(r.secrets, form)
		if r.onActions {
			r.commands.AddMask(form)
		}
	}
	longestFirst(r.secrets)
}

// Redact is the text with every secret replaced, for what leaves the program
// on another way: outputs, comments, files.
func (r *runner) Redact(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.redact(text)
}

func (r *runner) redact(text string) string {
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// Group opens a group of lines, which ends the one before.
func (r *runner) Group(title string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endGroup()
	r.group = true
	title = oneLine(r.redact(title))
	if r.onActions {
		r.commands.Group(title)
		return
	}
	fmt.Fprintf(r.out, "▸ %s\n", title)
}

// EndGroup ends the open group, if there is one.
func (r *runner) EndGroup() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endGroup()
}

func (r *runner) endGroup() {
	if r.group && r.onActions {
		r.commands.EndGroup()
	}
	r.group = false
}

// Printf prints lines into the open group.
func (r *runner) Printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines(r.out, fmt.Sprintf(format, args...))
}

// Debugf prints lines where debug logging is on.
func (r *runner) Debugf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	switch {
	case !r.debug:
	case r.onActions:
		r.commands.Debugf("%s", printable(r.redact(text)))
	default:
		r.lines(r.err, "debug: "+text)
	}
}

func (r *runner) lines(to io.Writer, text string) {
	indent := ""
	if r.group && !r.onActions {
		indent = "  "
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(printable(r.redact(text)), "\n"), "\n") {
		fmt.Fprintln(to, strings.TrimRight(indent+disarm(line), " "))
	}
}

// A note is a message that Actions shows beside the log: on the run's page
// and, with a file, in the pull request's diff.
type note struct {
	Title string
	Text  string
	File  string // in the workflow's repository
	Line  int
}

// Error, Warning and Notice print a note.
func (r *runner) Error(n note)   { r.note("error", r.err, n) }
func (r *runner) Warning(n note) { r.note("warning", r.err, n) }
func (r *runner) Notice(n note)  { r.note("notice", r.out, n) }

func (r *runner) note(level string, plain io.Writer, n note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.onActions {
		r.lines(plain, n.plain(level))
		return
	}
	fields := map[string]string{}
	if n.Title != "" {
		fields["title"] = oneLine(r.redact(n.Title))
	}
	if n.File != "" {
		fields["file"] = oneLine(r.redact(n.File))
		if n.Line > 0 {
			fields["line"] = fmt.Sprint(n.Line)
		}
	}
	text, action := printable(r.redact(n.Text)), r.commands.WithFieldsMap(fields)
	switch level {
	case "error":
		action.Errorf("%s", text)
	case "warning":
		action.Warningf("%s", text)
	default:
		action.Noticef("%s", text)
	}
}

func (n note) plain(level string) string {
	text := level + ": "
	if n.Title != "" {
		text += n.Title + ": "
	}
	if n.File != "" {
		text = fmt.Sprintf("%s:%d: %s", n.File, max(n.Line, 1), text)
	}
	return text + n.Text
}

// Write lets libraries that log for themselves write lines of debug.
func (r *runner) Write(text []byte) (int, error) {
	r.Debugf("%s", text)
	return len(text), nil
}
