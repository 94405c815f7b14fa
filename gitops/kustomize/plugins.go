package kustomize

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// pluginConfigs inspects the configurations of generators, transformers and validators. Only those that are built into
// kustomize run, and they read files too.
func (f file) pluginConfigs(k types.Kustomization) error {
	for _, field := range []struct {
		name    string
		entries []string
	}{
		{"generators", k.Generators},
		{"transformers", k.Transformers},
		{"validators", k.Validators},
	} {
		for _, entry := range field.entries {
			if err := f.pluginEntry(field.name, entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// pluginEntry inspects an entry that is a file, a folder, or the configuration itself.
func (f file) pluginEntry(field, entry string) error {
	f.inspector.plugins = true
	defer func() { f.inspector.plugins = false }()
	if mapping(entry) != nil {
		return f.fileOrText(field, entry, f.pluginConfig)
	}
	at, info, err := f.locate(field, entry)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return f.folder(at)
	}
	return f.yamlFile(field, entry)
}

// pluginConfig inspects the documents of a configuration.
func (f file) pluginConfig(content []byte) error {
	return f.budget.spend(content, len(f.stack), func(n *yaml.Node) error {
		if f.differing != nil {
			f.differing.document(f.reading, n)
		}
		configs := []*yaml.Node{resolve(n.Content[0])}
		if exact(configs[0], "apiVersion") == "builtin" {
			configs = listed(configs[0])
		}
		for _, config := range configs {
			if err := f.plugin(config); err != nil {
				return err
			}
		}
		return nil
	})
}

// plugin inspects the configuration of one.
func (f file) plugin(config *yaml.Node) error {
	apiVersion, kind := exact(config, "apiVersion"), exact(config, "kind")
	switch {
	case config.ShortTag() == "!!null":
		return nil
	case config.Kind != yaml.MappingNode:
		return fmt.Errorf("a document is %s; expected the configuration of a builtin plugin", kindName(config))
	case apiVersion != "builtin":
		return fmt.Errorf("%s %s is a plugin; only kustomize's builtin ones are run, no programs and containers; what it makes can come from another source of the Application", apiVersion, kind)
	case strings.HasPrefix(kind, "Helm"):
		return fmt.Errorf("%s: Helm charts are not rendered; commit what the chart renders to", kind)
	}
	if list := at(config, "replacements"); list != nil {
		if err := f.budget.crowd.change(entries(list), len(f.stack)); err != nil {
			return err
		}
	}
	if err := f.references(config); err != nil {
		return err
	}
	if f.differing != nil { // what it names is bounded by now
		f.differing.plugin(f, config)
	}
	return nil
}

// text is the value of key in the mapping n, or empty.
func text(n *yaml.Node, key string) string {
	if value := at(n, key); value != nil {
		return value.Value
	}
	return ""
}

// references looks through the configuration of a builtin plugin for files and for YAML in strings.
func (f file) references(n *yaml.Node) error {
	n = resolve(n)
	for i, child := range n.Content {
		key := ""
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			key = resolve(n.Content[i-1]).Value
		}
		if err := f.reference(key, child); err != nil {
			return err
		}
		if err := f.references(child); err != nil {
			return err
		}
	}
	return nil
}

// The fields of builtin plugins that name files, and those that hold a patch. kustomize ignores the case of keys.
var (
	rawFields   = []string{"files", "envs", "env"} // which generators read as they are
	fileFields  = []string{"path", "paths", "targetFilePath", "files", "envs", "env"}
	patchFields = []string{"patch", "patches", "jsonOp", "path", "paths"}
)

func (f file) reference(key string, value *yaml.Node) error {
	in := func(fields []string) bool {
		return slices.ContainsFunc(fields, func(field string) bool { return strings.EqualFold(field, key) })
	}
	for _, s := range values(value) {
		_, source, _ := strings.Cut(s, "=")
		if in(fileFields) && (remote(s) || remote(source)) {
			return fmt.Errorf("%s: %q %s", key, s, isRemote)
		}
		if in(rawFields) {
			f.raw(cmp.Or(source, s))
		}
		if in(patchFields) {
			if err := f.patchOrFile(s); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return nil
}

// raw notes a file that a generator reads, from the folder of whoever names its configuration.
func (f file) raw(name string) {
	for _, dir := range f.stack {
		if at, info, err := f.confined.follow(path.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			f.inspector.raw = append(f.inspector.raw, at)
		}
	}
}

// patchOrFile inspects a patch, or the file with one, which a plugin reads from the folder of
// whoever names its configuration.
func (f file) patchOrFile(s string) error {
	for _, dir := range f.stack {
		at, info, err := f.confined.follow(path.Join(dir, s))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, err := f.confined.ReadFile(path.Join(confinedRoot, at))
		if err == nil {
			err = f.bounded(content)
		}
		if err != nil {
			return err
		}
	}
	return f.bounded([]byte(s))
}

// values are the value, or the values of a list.
func values(n *yaml.Node) []string {
	n = resolve(n)
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	var all []string
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			all = append(all, resolve(item).Value)
		}
	}
	return all
}
