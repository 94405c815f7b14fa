package windows

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// A Difference is what one file says and another does not, in words.
type Difference struct{ Removed, Added []string }

// entryOf has each part of what is said between quotes, where none can pass for two.
func entryOf(words string, parts ...string) strictyaml.Entry {
	return strictyaml.Entry{Words: words, Exact: fmt.Sprintf("%q", parts)}
}

// Compare says what changes between two files. What is only written in another
// way, or stands in another place, is no change.
func Compare(before, after Schedule) (d Difference) {
	d.Removed, d.Added = strictyaml.Compare(before.entries(), after.entries())
	return d
}

// entries are all that the file says.
func (s Schedule) entries() []strictyaml.Entry {
	var all []strictyaml.Entry
	if s.stop != nil {
		all = append(all, s.stop.entry())
	}
	for _, w := range s.exclude {
		all = append(all, w.entry("excluded: "))
	}
	for _, w := range s.allow {
		w.override = false // what is outside of the allowed times is no single one's
		all = append(all, w.entry("allowed: "))
	}
	if s.outside && len(s.allow) > 0 {
		all = append(all, entryOf("outside of the times that are allowed"+mayOverride(true), "outside"))
	}
	return all
}

// entry is the stop with whom it concerns.
func (s stop) entry() strictyaml.Entry {
	since := ""
	if !s.since.IsZero() {
		since = Format(s.since)
	}
	return entryOf(s.cause().Text+s.about()+mayOverride(s.override), "stop", s.reason, s.by, since, s.exact(), mayOverride(s.override))
}

// entry is the window with its times, and whom it concerns.
func (w window) entry(does string) strictyaml.Entry {
	text := w.times.String()
	if w.description != "" {
		text = w.description + ", " + text
	}
	return entryOf(does+text+w.about()+mayOverride(w.override), does, w.description, w.times.String(), w.exact(), mayOverride(w.override))
}

// exact tells each name from the others.
func (s scope) exact() string { return fmt.Sprintf("%q %q", s.environments, s.services) }

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
