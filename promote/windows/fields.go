package windows

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/gitops/oneline"
)

// fields are the keys of a mapping with their values. The nodes of YAML are
// read one by one, because they know their lines, and because nothing then
// expands an alias.
type fields struct {
	node  *yaml.Node
	name  string // of the mapping, for errors
	nodes map[string]*yaml.Node
}

// fieldsOf reads a mapping that has no other keys than the known ones.
func fieldsOf(n *yaml.Node, name string, known ...string) (fields, error) {
	f := fields{n, name, map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		return f, wrong(n, "%s: %s: expected a mapping with %s", name, shown(n), names(known))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			return f, wrong(key, "%s: the key %s is not known: expected %s", name, shown(key), names(known))
		case f.nodes[key.Value] != nil:
			return f, wrong(key, "%s: %s is there twice: expected it once", name, key.Value)
		}
		f.nodes[key.Value] = n.Content[i+1]
	}
	return f, nil
}

// has counts which of some keys are there.
func (f fields) has(keys ...string) (n int) {
	for _, key := range keys {
		if f.nodes[key] != nil {
			n++
		}
	}
	return n
}

// words is a value of one printable line; empty where the key is not there.
func (f fields) words(key string) (string, error) {
	n := f.nodes[key]
	if n == nil {
		return "", nil
	}
	return f.text(key, n)
}

// text is a scalar of one printable line that is not empty. Lines that YAML
// folds or keeps become one.
func (f fields) text(key string, n *yaml.Node) (string, error) {
	line := strings.Join(strings.Fields(n.Value), " ")
	unprintable := strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) })
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" || line == "" || len(line) > wordLimit || unprintable || !utf8.ValidString(line) {
		return "", wrong(n, "%s: %s: %s: expected printable text of %d bytes at most", f.name, key, shown(n), wordLimit)
	}
	return line, nil
}

func (f fields) flag(key string, otherwise bool) (bool, error) {
	n := f.nodes[key]
	switch {
	case n == nil:
		return otherwise, nil
	case n.Kind == yaml.ScalarNode && (n.Value == "true" || n.Value == "false"):
		return n.Value == "true", nil
	}
	return false, wrong(n, "%s: %s: %s: expected true or false", f.name, key, shown(n))
}

// list are the entries of a sequence; none where the key is not there.
func (f fields) list(key string) ([]*yaml.Node, error) {
	n := f.nodes[key]
	switch {
	case n == nil:
		return nil, nil
	case n.Kind != yaml.SequenceNode:
		return nil, wrong(n, "%s: %s: expected a list", key, shown(n))
	}
	return n.Content, nil
}

func (f fields) scope() (s scope, err error) {
	if s.environments, err = f.names("environments"); err != nil {
		return s, err
	}
	s.services, err = f.names("services")
	return s, err
}

// names is a list of names that is not empty: an empty one could mean none or
// all of them.
func (f fields) names(key string) ([]string, error) {
	n := f.nodes[key]
	if n == nil {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, wrong(n, "%s: %s: %s: expected a list of names, for example: [production], or no %s for all", f.name, key, shown(n), key)
	}
	var all []string
	for _, entry := range n.Content {
		name, err := f.text(key, entry)
		if err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, nil
}

// zone is the time zone of a mapping, by its name in the IANA database. What the
// system calls its own would be another one on each runner.
func (f fields) zone(otherwise *time.Location) (*time.Location, error) {
	name, err := f.words("timezone")
	if err != nil || name == "" {
		return otherwise, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, wrong(f.nodes["timezone"], "%s: timezone: %q: expected a name of the IANA time zone database, for example: Europe/Berlin", f.name, name)
	}
	return zone, nil
}

// moments are the forms of a time, of which those with an offset need no zone.
var moments = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00"}

func (f fields) moment(key string, zone *time.Location) (time.Time, error) {
	text, err := f.words(key)
	if err != nil {
		return time.Time{}, err
	}
	for i, form := range moments {
		at, err := time.Parse(form, text)
		switch {
		case err != nil:
			continue
		case i < 2:
			return instant(at, zone), nil
		}
		return at.In(zone), nil
	}
	return time.Time{}, wrong(f.nodes[key], "%s: %s: %q: expected a date and a time, for example: 2026-12-18T00:00, or with an offset 2026-12-18T00:00Z", f.name, key, text)
}

// shown is what stands there, as an error quotes it.
func shown(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "an alias, which is not read"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Value == "":
		return "nothing"
	}
	return strconv.Quote(oneline.Of(n.Value, 60))
}

// names is a list of names in words.
func names(all []string) string {
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}
