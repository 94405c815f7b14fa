package windows

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// fields are the keys of a mapping with their values.
type fields struct{ strictyaml.Fields }

func fieldsOf(n *yaml.Node, name string, known ...string) (fields, error) {
	f, err := strictyaml.FieldsOf(n, name, known...)
	return fields{f}, err
}

// list are the entries of a sequence; none where the key is not there.
func (f fields) list(key string) ([]*yaml.Node, error) {
	n := f.Nodes[key]
	switch {
	case n == nil:
		return nil, nil
	case n.Kind != yaml.SequenceNode:
		return nil, strictyaml.Wrong(n, "%s: %s: expected a list", key, strictyaml.Shown(n))
	}
	return n.Content, nil
}

func (f fields) scope() (s scope, err error) {
	if s.environments, err = f.names("environments", "[production]", isEnvironment); err != nil {
		return s, err
	}
	s.services, err = f.names("services", "[checkout]", isService)
	return s, err
}

// isEnvironment tells what an environment may be called: what is called so is a word for people, or a
// folder, but the input takes several with commas.
func isEnvironment(name string) bool { return !strings.Contains(name, ",") }

// isService tells what a Service may be called. Nothing else is ever asked of.
func isService(name string) bool { return len(validation.IsDNS1035Label(name)) == 0 }

// names is a list of names that is not empty: an empty one could mean none or
// all of them. What no name can be would be of nobody, where two names are meant.
func (f fields) names(key, example string, good func(string) bool) ([]string, error) {
	n := f.Nodes[key]
	if n == nil {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, strictyaml.Wrong(n, "%s: %s: %s: expected a list of names, for example: %s, or no %s for all", f.Name, key, strictyaml.Shown(n), example, key)
	}
	var all []string
	for _, entry := range n.Content {
		name, err := f.Text(key, entry)
		if err == nil && !good(name) {
			err = strictyaml.Wrong(entry, "%s: %s: %q: expected the name of one, for example: %s", f.Name, key, name, example)
		}
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
	name, err := f.Words("timezone")
	if err != nil || name == "" {
		return otherwise, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, strictyaml.Wrong(f.Nodes["timezone"], "%s: timezone: %q: expected a name of the IANA time zone database, for example: Europe/Berlin", f.Name, name)
	}
	return zone, nil
}

// moments are the forms of a time, of which those with an offset need no zone.
var moments = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00"}

func (f fields) moment(key string, zone *time.Location) (time.Time, error) {
	text, err := f.Words(key)
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
	return time.Time{}, strictyaml.Wrong(f.Nodes[key], "%s: %s: %q: expected a date and a time, for example: 2026-12-18T00:00, or with an offset 2026-12-18T00:00Z", f.Name, key, text)
}
