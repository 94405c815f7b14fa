package console

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// SummaryLimit is the most bytes of a job's summary. GitHub drops one of more
// than 1 MiB whole, and near that without a word:
// https://github.com/actions/runner/issues/4337
const SummaryLimit = 900 << 10

// outputLimit is the most bytes of an output. GitHub drops job outputs over
// 1 MiB, which it counts in UTF-16.
const outputLimit = 400 << 10

// An Output is one value for the steps that follow.
type Output struct{ Name, Value string }

// SetOutputs hands the outputs to the runner; a later value of the same name
// wins. Where no file is named for them it does nothing.
//
// It writes the file itself because go-githubactions marks the end of every
// value with the same text, so a value that holds it could forge outputs.
func (c *Console) SetOutputs(outputs []Output) error {
	if c.output == "" {
		return nil
	}
	var text strings.Builder
	for _, o := range outputs {
		entry, err := outputEntry(o.Name, c.Redact(o.Value), rand.Text())
		if err != nil {
			return err
		}
		text.WriteString(entry)
	}
	return appendFile(c.output, text.String())
}

// outputEntry is one output in the form of the runner's files. The mark must
// be random and is refused where it is part of the value all the same.
func outputEntry(name, value, mark string) (string, error) {
	if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(name) {
		return "", fmt.Errorf("output %q: not a name", name)
	}
	value = strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", "\uFFFD"), "\uFFFD")
	value = cutLines(value, outputLimit)
	if strings.Contains(value, mark) {
		return "", fmt.Errorf("output %s: the value holds its own end mark", name)
	}
	return fmt.Sprintf("%s<<%s\n%s\n%s\n", name, mark, value, mark), nil
}

// cutLines is the text's first lines, of limit bytes at most.
func cutLines(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const more = "\n(cut here: the text is too long)"
	text = text[:limit-len(more)]
	if end := strings.LastIndexByte(text, '\n'); end > 0 {
		text = text[:end]
	}
	return strings.ToValidUTF8(text, "") + more
}

// Summarize makes the Markdown our part of the step's summary, in the place
// of what an earlier call wrote, so that a run that is killed leaves the last.
// Outside Actions it does nothing.
func (c *Console) Summarize(markdown string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.summary == "" {
		return nil
	}
	if !c.begun {
		if info, err := os.Stat(c.summary); err == nil {
			c.start = info.Size()
		}
		c.begun = true
	}
	markdown = c.Redact(markdown) + "\n"
	if c.start+int64(len(markdown)) > SummaryLimit {
		return fmt.Errorf("job summary: %d bytes are too many", c.start+int64(len(markdown)))
	}
	if err := os.Truncate(c.summary, c.start); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("job summary: %w", err)
	}
	return appendFile(c.summary, markdown)
}

// BeginSummary lets the next Summarize add to what stands there, in the place of
// writing it anew.
func (c *Console) BeginSummary() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = false
}

func appendFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("telling the runner: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("telling the runner: %w", err)
	}
	return nil
}
