// Package console is where the program meets the GitHub Actions runner: it
// prints the log and the annotations, writes the step's outputs and summary,
// and reads which run it is and what event started it. At a terminal it prints
// plain lines.
package console

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"

	"github.com/acme/knative-promote/internal/redact"
)

// A Console is where the program speaks: to the GitHub Actions runner in its
// protocol, and to a terminal in plain lines. Any text given to it may come
// from outside: secrets are hidden in it, and it never becomes a workflow
// command (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
//
// It never fails: a run must not stop half-way because nobody reads its log.
type Console struct {
	onActions bool
	debug     bool
	out, err  io.Writer
	commands  *githubactions.Action // nothing else writes workflow commands
	output    string                // file of the step's outputs
	summary   string                // file of the step's summary
	secrets   redact.Secrets

	mu    sync.Mutex
	group bool  // a group is open
	start int64 // of our part of the summary, in bytes
	begun bool  // our part of the summary is begun
}

// New speaks the runner's protocol where the environment is an Actions
// run's, which takes everything from stdout, in order. Outputs and the summary go to their
// files wherever these are named.
func New(getenv func(string) string, stdout, stderr io.Writer) *Console {
	c := &Console{
		onActions: getenv("GITHUB_ACTIONS") == "true" && getenv("GITLAB_CI") == "", // which prints the masks as they are
		debug:     getenv("RUNNER_DEBUG") == "1",
		out:       stdout,
		err:       stderr,
		commands:  githubactions.New(githubactions.WithWriter(patient{stdout}), githubactions.WithGetenv(getenv)),
	}
	if c.onActions {
		c.err = stdout
	}
	c.output, c.summary = getenv("GITHUB_OUTPUT"), getenv("GITHUB_STEP_SUMMARY")
	return c
}

// patient hides write errors from go-githubactions, which panics on them.
type patient struct{ io.Writer }

func (p patient) Write(text []byte) (int, error) {
	_, _ = p.Writer.Write(text)
	return len(text), nil
}

// OnActions says whether the Actions runner shows what is printed.
func (c *Console) OnActions() bool { return c.onActions }

// Hide keeps secrets, and what is commonly derived from them, out of all that
// is printed or reported from here on. On Actions the runner masks them too.
func (c *Console) Hide(secrets ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, form := range c.secrets.Add(secrets...) {
		if c.onActions {
			c.commands.AddMask(form)
		}
	}
}

// Redact is the text with every secret replaced, for what leaves the program
// on another way: outputs, comments, files.
func (c *Console) Redact(text string) string { return c.secrets.Hide(text) }

// Group opens a group of lines, which ends the one before.
func (c *Console) Group(title string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endGroup()
	c.group = true
	title = OneLine(c.Redact(title))
	if c.onActions {
		c.commands.Group(title)
		return
	}
	fmt.Fprintf(c.out, "▸ %s\n", title)
}

// EndGroup ends the open group, if there is one.
func (c *Console) EndGroup() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endGroup()
}

func (c *Console) endGroup() {
	if c.group && c.onActions {
		c.commands.EndGroup()
	}
	c.group = false
}

// Printf prints lines into the open group.
func (c *Console) Printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines(c.out, fmt.Sprintf(format, args...))
}

// Debugf prints lines where debug logging is on.
func (c *Console) Debugf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	switch {
	case !c.debug:
	case c.onActions:
		c.commands.Debugf("%s", printable(c.Redact(text)))
	default:
		c.lines(c.err, "debug: "+text)
	}
}

func (c *Console) lines(to io.Writer, text string) {
	indent := ""
	if c.group && !c.onActions {
		indent = "  "
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(printable(c.Redact(text)), "\n"), "\n") {
		fmt.Fprintln(to, strings.TrimRight(indent+disarm(line), " "))
	}
}

// A Note is a message that Actions shows beside the log: on the run's page
// and, with a file, in the pull request's diff.
type Note struct {
	Title string
	Text  string
	File  string // in the workflow's repository
	Line  int
}

// Error prints a note of what is wrong.
func (c *Console) Error(n Note) { c.note("error", n) }

// Warning prints a note of what may be regretted.
func (c *Console) Warning(n Note) { c.note("warning", n) }

func (c *Console) note(level string, n Note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.onActions {
		c.lines(c.err, n.plain(level))
		return
	}
	fields := map[string]string{}
	if n.Title != "" {
		fields["title"] = OneLine(c.Redact(n.Title))
	}
	if n.File != "" {
		fields["file"] = OneLine(c.Redact(n.File))
		if n.Line > 0 {
			fields["line"] = fmt.Sprint(n.Line)
		}
	}
	text, action := printable(c.Redact(n.Text)), c.commands.WithFieldsMap(fields)
	if level == "error" {
		action.Errorf("%s", text)
		return
	}
	action.Warningf("%s", text)
}

func (n Note) plain(level string) string {
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
func (c *Console) Write(text []byte) (int, error) {
	c.Debugf("%s", text)
	return len(text), nil
}
