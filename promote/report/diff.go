package report

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// around is how many unchanged lines a full diff shows around a change.
const around = 3

// Diff compares two rendered manifests of several documents object by object
// and returns the changes as a unified diff whose file names are the objects:
// `serving.knative.dev/Service shop/checkout`. The order of the objects,
// comments and quoting do not count. It is empty when nothing changes.
//
// Secrets are hidden before the comparison: data of Secrets, values of
// environment variables, arguments and fields with a secret-looking name,
// passwords in addresses, PEM blocks and tokens. A hidden value that changes
// is shown as such; neither value nor length is.
func Diff(before, after []byte) string {
	secrets := newVault(before, after)
	old, current := objects(before, secrets), objects(after, secrets)
	remaining := make(map[string]string, len(old))
	for _, o := range old {
		remaining[o.name] = o.text
	}
	var b strings.Builder
	for _, o := range current {
		text, existed := remaining[o.name]
		delete(remaining, o.name)
		if !existed {
			b.WriteString(secrets.show(unified("/dev/null", o.name, "", o.text), o.text))
			continue
		}
		b.WriteString(secrets.show(unified(o.name, o.name, text, o.text), text))
	}
	for _, o := range old {
		if text, gone := remaining[o.name]; gone {
			b.WriteString(secrets.show(unified(o.name, "/dev/null", text, ""), text))
		}
	}
	return b.String()
}

// unified compares two texts line by line.
func unified(from, to, before, after string) string {
	if before == after {
		return ""
	}
	diff, err := udiff.ToUnifiedDiff(from, to, before, udiff.Lines(before, after), around)
	if err != nil {
		return "" // only for edits that do not fit the text, and these do
	}
	c := change{name: to, verb: "changed"}
	switch {
	case before == "":
		c.verb = "added"
	case after == "":
		c.name, c.verb = from, "removed"
	}
	for _, h := range diff.Hunks {
		c.add(h)
	}
	return c.String()
}

// add takes over a hunk but not its place in the new text, which the library
// does not count right after unchanged lines inside a hunk.
func (c *change) add(from *udiff.Hunk) {
	h := hunk{from: from.FromLine, to: from.FromLine + c.added - c.removed}
	for _, line := range from.Lines {
		text := strings.TrimSuffix(line.Content, "\n")
		switch line.Kind {
		case udiff.Delete:
			text = "-" + text
			c.removed++
		case udiff.Insert:
			text = "+" + text
			c.added++
		default:
			text = " " + text
		}
		h.lines = append(h.lines, text)
	}
	c.hunks = append(c.hunks, h)
}
