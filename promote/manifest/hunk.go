package manifest

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// around is how many unchanged lines Compare keeps around a change.
const around = 3

// hunks compares two texts line by line.
func hunks(before, after string) []Hunk {
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), around)
	if err != nil {
		return nil // only for edits that do not fit the text, and these do
	}
	signs := map[udiff.OpKind]Sign{udiff.Delete: Minus, udiff.Insert: Plus, udiff.Equal: Both}
	var found []Hunk
	shift := 0 // lines that the hunks before have added, without those they have removed
	for _, h := range diff.Hunks {
		// The library does not count the place in the new text right after
		// unchanged lines inside a hunk.
		hunk := Hunk{From: h.FromLine, To: h.FromLine + shift}
		for _, line := range h.Lines {
			text := strings.Clone(strings.TrimSuffix(line.Content, "\n")) // else a line keeps the whole object in memory
			hunk.Lines = append(hunk.Lines, Line{signs[line.Kind], text})
		}
		old, current := hunk.size()
		shift += current - old
		found = append(found, hunk)
	}
	return found
}

// String writes the hunk as a unified diff does.
func (h Hunk) String() string {
	old, current := h.size()
	if old == 0 {
		h.From-- // a hunk of no lines is numbered by the line before it
	}
	if current == 0 {
		h.To--
	}
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.From, old, h.To, current)
	for _, line := range h.Lines {
		b.WriteString(string(line.Sign) + line.Text + "\n")
	}
	return b.String()
}

// size counts the lines that the hunk covers in each text.
func (h Hunk) size() (old, current int) {
	for _, line := range h.Lines {
		if line.Sign != Plus {
			old++
		}
		if line.Sign != Minus {
			current++
		}
	}
	return old, current
}

// narrow keeps at most around unchanged lines on either side of a change.
func (h Hunk) narrow(around int) []Hunk {
	keep := make([]bool, len(h.Lines))
	for i, line := range h.Lines {
		if line.Sign != Both {
			for j := max(0, i-around); j < min(len(keep), i+around+1); j++ {
				keep[j] = true
			}
		}
	}
	var pieces []Hunk
	from, to := h.From, h.To
	for i, line := range h.Lines {
		if keep[i] {
			if i == 0 || !keep[i-1] {
				pieces = append(pieces, Hunk{From: from, To: to})
			}
			last := &pieces[len(pieces)-1]
			last.Lines = append(last.Lines, line)
		}
		if line.Sign != Plus {
			from++
		}
		if line.Sign != Minus {
			to++
		}
	}
	return pieces
}
