package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// sizeLimit is how many bytes a file may have.
const sizeLimit = 256 << 10

var (
	environmentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	serviceName     = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// Parse reads a file. It takes no other keys, and no value that
// an input does not take. The error is a *strictyaml.Error that says what was expected.
func Parse(text []byte, keys Keys) (File, error) {
	root, err := strictyaml.Document(text, sizeLimit)
	if err == nil && root == nil {
		err = &strictyaml.Error{Err: errors.New("it is empty: expected version, path and environments")}
	}
	if err != nil {
		return File{}, err
	}
	top, err := strictyaml.FieldsOf(root, "the file", "version", "path", "defaults", "environments", "services")
	if err != nil {
		return File{}, err
	}
	r := reader{keys: keys, file: File{guards: keys.guards(), environments: map[string]Settings{}, services: map[string]map[string]Settings{}, lines: map[string]int{}}}
	for _, read := range []func(strictyaml.Fields) error{r.version, r.path, r.defaults, r.environments, r.services} {
		if err := read(top); err != nil {
			return File{}, err
		}
	}
	return r.file, nil
}

// A reader reads one file.
type reader struct {
	keys Keys
	file File
}

func (r *reader) version(top strictyaml.Fields) error {
	n := top.Nodes["version"]
	switch {
	case n == nil:
		return strictyaml.Wrong(top.Node, "version is missing: expected version: 1")
	case n.Kind != yaml.ScalarNode || n.Value != "1":
		return strictyaml.Wrong(n, "version: %s: expected 1", strictyaml.Shown(n))
	}
	return nil
}

func (r *reader) path(top strictyaml.Fields) error {
	const example = "path: apps/{service}/overlays/{environment}"
	n := top.Nodes["path"]
	if n == nil {
		return strictyaml.Wrong(top.Node, "path is missing: expected the folders of the overlays, for example %s", example)
	}
	pattern, err := top.Text("path", n)
	if err != nil {
		return err
	}
	if !strings.Contains(pattern, theEnvironment) {
		return strictyaml.Wrong(n, "path: %q: expected {environment} in it, as each environment has an overlay of its own, for example %s", pattern, example)
	}
	r.file.path = Setting{path.Clean(pattern), n.Line} // a run's overlay has no ./ and no / at its end either
	return r.value("the file", "path", n, pattern)
}

func (r *reader) defaults(top strictyaml.Fields) (err error) {
	if n := top.Nodes["defaults"]; n != nil {
		r.file.defaults, err = r.settings(n, "defaults", r.keys.everywhere())
	}
	return err
}

func (r *reader) environments(top strictyaml.Fields) error {
	n := top.Nodes["environments"]
	if n == nil {
		return strictyaml.Wrong(top.Node, "environments is missing: expected them in order, for example environments: {staging: {}, production: {from: staging}}")
	}
	all, err := strictyaml.NamesOf(n, "environments", "names of environments, of letters, digits, dots, dashes and underscores", environmentName.MatchString)
	if err != nil {
		return err
	}
	if len(all.Keys) == 0 {
		return strictyaml.Wrong(n, "environments: expected one at least")
	}
	r.file.Environments = all.Keys
	if err := differ(all); err != nil {
		return err
	}
	for _, name := range all.Keys {
		r.file.lines[name] = all.Nodes[name].Line
		if r.file.environments[name], err = r.environment(all.Nodes[name], name); err != nil {
			return err
		}
		if err := r.sourced(name, name, r.file.environments[name]); err != nil {
			return err
		}
	}
	return nil
}

// differ wants the environments' variables to have different names.
func differ(all strictyaml.Fields) error {
	of := map[string]string{}
	for _, name := range all.Keys {
		variable := TokenVariable(name)
		if other, taken := of[variable]; taken {
			return strictyaml.Wrong(all.Nodes[name], "environments: %s and %s: the variable %s would have the token of both: expected names that differ in letters or digits", other, name, variable)
		}
		of[variable] = name
	}
	return nil
}

// services reads what single Services have of their own.
func (r *reader) services(top strictyaml.Fields) error {
	n := top.Nodes["services"]
	if n == nil {
		return nil
	}
	all, err := strictyaml.NamesOf(n, "services", "names of Services", serviceName.MatchString)
	if err != nil {
		return err
	}
	for _, service := range all.Keys {
		own, err := strictyaml.FieldsOf(all.Nodes[service], service, r.file.Environments...)
		if err != nil {
			return err
		}
		r.file.services[service] = map[string]Settings{}
		for _, environment := range own.Keys {
			name := service + ": " + environment
			settings, err := r.environment(own.Nodes[environment], name)
			if err != nil {
				return err
			}
			r.file.services[service][environment] = settings
			all := maps.Clone(r.file.environments[environment])
			maps.Copy(all, settings)
			if err := r.sourced(name, environment, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// environment reads what one says, which may be nothing.
func (r *reader) environment(n *yaml.Node, name string) (Settings, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return Settings{}, nil
	}
	return r.settings(n, name, append(r.keys.each(), approval, override))
}

// sourced wants the environments that from names to come before, each once, so that
// no image goes round in a circle, and one to be there where something is asked of it.
func (r *reader) sourced(name, environment string, said Settings) error {
	from, is := said["from"]
	before := r.file.Environments[:slices.Index(r.file.Environments, environment)]
	for i, source := range Names(from.Text) {
		switch {
		case len(before) == 0:
			return &strictyaml.Error{Line: from.Line, Err: fmt.Errorf("%s: from: %q: it is the first environment: expected no from", name, source)}
		case !slices.Contains(before, source):
			return &strictyaml.Error{Line: from.Line, Err: fmt.Errorf("%s: from: %q: expected an environment that stands before it: %s", name, source, strictyaml.Names(before))}
		case slices.Contains(Names(from.Text)[:i], source):
			return &strictyaml.Error{Line: from.Line, Err: fmt.Errorf("%s: from: %q is there twice: expected it once", name, source)}
		}
	}
	for _, key := range ofSource {
		if at, asked := said[key]; asked && !is {
			return &strictyaml.Error{Line: at.Line, Err: fmt.Errorf("%s: %s: there is no environment that it asks this of: expected from too", name, key)}
		}
	}
	return nil
}

// settings are the values of a mapping.
func (r *reader) settings(n *yaml.Node, name string, keys []string) (Settings, error) {
	f, err := strictyaml.FieldsOf(n, name, keys...)
	if err != nil {
		return nil, err
	}
	all := Settings{}
	for _, key := range f.Keys {
		value, err := textOf(f, key)
		if err == nil && key == "from" && len(Names(value)) == 0 {
			err = strictyaml.Wrong(f.Nodes[key], "%s: from: %s: expected names of environments", name, strictyaml.Shown(f.Nodes[key]))
		}
		if err != nil {
			return nil, err
		}
		all[key] = Setting{value, f.Nodes[key].Line}
		switch {
		case key == approval && !slices.Contains([]string{"true", "false", ifKnown}, f.Nodes[key].Value):
			err = strictyaml.Wrong(f.Nodes[key], "%s: approval: %s: expected true, false or if-known", name, strictyaml.Shown(f.Nodes[key]))
		case key == approval:
		case key == override:
			_, err = f.Flag(key, false)
		case key != "from": // which is no path here
			err = r.value(name, key, f.Nodes[key], value)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// textOf is a value as its input takes it: entries of a list are lines.
func textOf(f strictyaml.Fields, key string) (string, error) {
	n := f.Nodes[key]
	entries := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		entries = n.Content
	}
	var lines []string
	for _, entry := range entries {
		if entry.Kind != yaml.ScalarNode || strings.TrimSpace(entry.Value) == "" {
			return "", strictyaml.Wrong(entry, "%s: %s: %s: expected a value, as the input %s takes it, or a list of those", f.Name, key, strictyaml.Shown(entry), key)
		}
		lines = append(lines, strings.TrimSpace(entry.Value))
	}
	if len(lines) == 0 {
		return "", strictyaml.Wrong(n, "%s: %s: the list is empty: expected a value, or no %s", f.Name, key, key)
	}
	return strings.Join(lines, "\n"), nil
}

// value asks whether the input would take a value. The words that stand for names
// become such.
func (r *reader) value(name, input string, n *yaml.Node, value string) error {
	if input == "path" || input == "application" {
		value = expand(value, "service", "environment")
		if strings.ContainsAny(value, "{}") {
			return strictyaml.Wrong(n, "%s: %s: %s: expected no other words in braces than {service} and {environment}", name, input, strictyaml.Shown(n))
		}
	}
	if r.keys.Check == nil {
		return nil
	}
	if err := r.keys.Check(input, value); err != nil {
		return strictyaml.Wrong(n, "%s: %s: %s: %w", name, input, strictyaml.Shown(n), err)
	}
	return nil
}
