package kustomize

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

func (f file) patches(k types.Kustomization) error {
	//lint:ignore SA1019 kustomize still reads it
	old := k.PatchesJson6902
	for _, p := range slices.Concat(k.Patches, old) {
		if p.Path != "" {
			if err := f.yamlFile("patches", p.Path); err != nil {
				return err
			}
		}
		if err := f.bounded([]byte(p.Patch)); err != nil {
			return fmt.Errorf("%s: patches: %w", f.name, err)
		}
	}
	//lint:ignore SA1019 kustomize still reads it
	for _, p := range k.PatchesStrategicMerge {
		if err := f.fileOrText("patchesStrategicMerge", string(p), f.bounded); err != nil {
			return err
		}
	}
	return nil
}

// fileOrText inspects an entry that is either a path or the YAML itself, which is checked. A mapping that is no object kustomize takes
// for a path in the end, or for an address.
func (f file) fileOrText(field, entry string, check func([]byte) error) error {
	root := mapping(entry)
	if root != nil {
		if err := check([]byte(entry)); err != nil {
			return fmt.Errorf("%s: %s: %w", f.name, field, err)
		}
	}
	if root == nil || !isObject(root) {
		return f.yamlFile(field, entry)
	}
	return nil
}

// mapping is the one that a text is; nil: it is none.
func mapping(text string) *yaml.Node {
	var n yaml.Node
	if !strings.Contains(text, ":") || yaml.Unmarshal([]byte(text), &n) != nil || len(n.Content) != 1 || n.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	return n.Content[0]
}

// isObject tells whether a mapping has what every object has.
func isObject(n *yaml.Node) bool {
	kind, metadata := exact(n, "kind"), exactly(n, "metadata")
	return kind != "" && (strings.HasSuffix(kind, "List") || metadata != nil && exact(metadata, "name") != "")
}

func (f file) files(k types.Kustomization) error {
	for _, entry := range k.Crds {
		if err := f.yamlFile("crds", entry); err != nil {
			return err
		}
	}
	for _, entry := range k.Configurations {
		if err := f.yamlFile("configurations", entry); err != nil {
			return err
		}
	}
	for _, r := range k.Replacements {
		if r.Path == "" {
			continue
		}
		if err := f.yamlFile("replacements", r.Path); err != nil {
			return err
		}
	}
	f.inspector.schema = f.inspector.schema || k.OpenAPI != nil
	if p, ok := k.OpenAPI["path"]; ok {
		return f.schemaFile(p)
	}
	return nil
}

// schemaFile inspects an OpenAPI schema. In JSON, which has no aliases, it can be larger than any overlay.
func (f file) schemaFile(entry string) error {
	at, _, err := f.locate("openapi", entry)
	if err != nil {
		return err
	}
	if content, err := f.confined.ReadFile(path.Join(confinedRoot, at)); err == nil && json.Valid(content) {
		return nil
	}
	return f.yamlFile("openapi", entry)
}

// data inspects the sources of generated ConfigMaps and Secrets, which can hold anything.
func (f file) data(k types.Kustomization) error {
	for _, g := range k.ConfigMapGenerator {
		if err := f.sources("configMapGenerator", g.KvPairSources); err != nil {
			return err
		}
	}
	for _, g := range k.SecretGenerator {
		if err := f.sources("secretGenerator", g.KvPairSources); err != nil {
			return err
		}
	}
	return nil
}

func (f file) sources(field string, s types.KvPairSources) error {
	for _, entry := range slices.Concat(s.FileSources, s.EnvSources, []string{s.EnvSource}) {
		if key, source, ok := strings.Cut(entry, "="); ok && !remote(key) {
			entry = source
		}
		if entry == "" {
			continue
		}
		at, _, err := f.locate(field, entry)
		if err != nil {
			return err
		}
		f.inspector.raw = append(f.inspector.raw, at)
	}
	return nil
}
