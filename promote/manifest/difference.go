package manifest

import "strings"

// A Difference is what changes from one rendered manifest to another, an
// element for each object that changes: those of the new manifest in its
// order, then the removed ones. It is empty when nothing changes. It is not to
// be written to once it is made.
type Difference []Object

// An Object is what changes of one Kubernetes object.
type Object struct {
	Name   string // one line, such as `serving.knative.dev/Service shop/checkout`, unique in the Difference
	Change Change
	Hunks  []Hunk

	// Fields are those that change in an object that is Changed. There is none
	// where only the order of its keys does.
	Fields     []Field
	MoreFields int // fields that change too, beyond the number that are kept

	Alone string // its group, kind and name, where no other object has these in any namespace; else empty
}

// Change is what happens to an object.
type Change string

// What may happen to an object.
const (
	Added   Change = "added"
	Changed Change = "changed"
	Removed Change = "removed"
)

// A Hunk is one run of lines of an object's YAML: the changed ones, and
// unchanged ones around them.
type Hunk struct {
	From, To int // line in the old and in the new text where it starts, counted from 1
	Lines    []Line
}

// A Line is one line of an object's YAML, with its secrets hidden.
type Line struct {
	Sign Sign
	Text string
}

// Sign tells in which of the two texts a line is, as a unified diff writes it.
type Sign string

// The signs of lines.
const (
	Both  Sign = " "
	Minus Sign = "-" // in the old text alone
	Plus  Sign = "+" // in the new text alone
)

// Compare compares two rendered manifests of several documents object by
// object. The order of the objects, comments and quoting do not count.
//
// Secrets are hidden before the comparison: data of Secrets, values of
// environment variables, arguments and fields with a secret-looking name,
// passwords in addresses, PEM blocks and tokens. A hidden value that changes
// is shown as such; neither value nor length is.
func Compare(before, after []byte) Difference {
	secrets := newVault(before, after)
	old, current := documents(before, secrets), documents(after, secrets)
	alone := aloneIn(old, current)
	remaining := make(map[string]document, len(old))
	for _, d := range old {
		remaining[d.name] = d
	}
	var difference Difference
	add := func(d document, o Object) {
		o.Alone = alone(d)
		difference = append(difference, o)
	}
	for _, d := range current {
		was, existed := remaining[d.name]
		delete(remaining, d.name)
		switch {
		case !existed: // no secret of it has changed: it had none before
			add(d, secrets.object(d.name, Added, hunks("", d.text), d.text))
		case was.text != d.text:
			changed := secrets.object(d.name, Changed, hunks(was.text, d.text), was.text)
			changed.Fields, changed.MoreFields = secrets.fields(was.node, d.node)
			add(d, changed)
		}
	}
	for _, d := range old {
		if _, gone := remaining[d.name]; gone {
			add(d, secrets.object(d.name, Removed, hunks(d.text, ""), d.text))
		}
	}
	return difference
}

// Size counts the lines that are added and removed.
func (d Difference) Size() (added, removed int) {
	for _, o := range d {
		more, fewer := o.Size()
		added, removed = added+more, removed+fewer
	}
	return added, removed
}

// Size counts the lines that are added and removed.
func (o Object) Size() (added, removed int) {
	for _, h := range o.Hunks {
		for _, line := range h.Lines {
			switch line.Sign {
			case Plus:
				added++
			case Minus:
				removed++
			}
		}
	}
	return added, removed
}

// Bytes is about how much memory the lines take.
func (d Difference) Bytes() int {
	const line = 40 // beside the text: its place, its length and the sign
	bytes := 0
	for _, o := range d {
		for _, h := range o.Hunks {
			for _, l := range h.Lines {
				bytes += line + len(l.Text)
			}
		}
	}
	return bytes
}

// Narrow is the same with at most so many unchanged lines on either side of
// a change.
func (d Difference) Narrow(around int) Difference {
	narrowed := make(Difference, len(d))
	for i, o := range d {
		narrowed[i] = o
		narrowed[i].Hunks = nil
		for _, h := range o.Hunks {
			narrowed[i].Hunks = append(narrowed[i].Hunks, h.narrow(around)...)
		}
	}
	return narrowed
}

// String writes a unified diff whose file names are the objects.
func (d Difference) String() string {
	var b strings.Builder
	for _, o := range d {
		from, to := o.Name, o.Name
		switch o.Change {
		case Added:
			from = "/dev/null"
		case Removed:
			to = "/dev/null"
		}
		b.WriteString("--- " + from + "\n+++ " + to + "\n")
		for _, h := range o.Hunks {
			b.WriteString(h.String())
		}
	}
	return b.String()
}
