package windows

import (
	"slices"
	"strings"
)

// A Difference is what one file says and another does not, in words.
type Difference struct{ Removed, Added []string }

// Compare says what changes between two files. What is only written in another
// way, or stands in another place, is no change.
func Compare(before, after Schedule) Difference {
	was, is := before.entries(), after.entries()
	var d Difference
	for _, entry := range is {
		if i := slices.Index(was, entry); i >= 0 {
			was = slices.Delete(was, i, i+1)
			continue
		}
		d.Added = append(d.Added, entry)
	}
	d.Removed = was
	return d
}

// entries are all that the file says, each in words.
func (s Schedule) entries() []string {
	var all []string
	if s.stop != nil {
		all = append(all, s.stop.cause().Text+s.stop.about()+mayOverride(s.stop.override))
	}
	for _, w := range s.exclude {
		all = append(all, "excluded: "+w.entry()+mayOverride(w.override))
	}
	for _, w := range s.allow {
		all = append(all, "allowed: "+w.entry())
	}
	if s.outside && len(s.allow) > 0 {
		all = append(all, "outside of the times that are allowed"+mayOverride(true))
	}
	return all
}

// entry is the window with its times, and whom it concerns.
func (w window) entry() string {
	text := w.times.String()
	if w.description != "" {
		text = w.description + ", " + text
	}
	return text + w.about()
}

// about is whom something concerns, empty for all.
func (s scope) about() string {
	var text string
	for _, list := range []struct {
		words string
		names []string
	}{{" in ", s.environments}, {" of ", s.services}} {
		if len(list.names) > 0 {
			text += list.words + strings.Join(list.names, ", ")
		}
	}
	if text == "" {
		return ""
	}
	return "; only" + text
}

func mayOverride(override bool) string {
	if override {
		return "; a run may override it"
	}
	return ""
}
