package kustomize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// inspect reads what kustomize is going to read for the folder dir and returns an error for what must not reach it.
// kustomize fetches http and git references by itself and has no option against that.
func inspect(ctx context.Context, tree fs.FS, dir string) error {
	if !fs.ValidPath(dir) {
		return errors.New("expected the path of a folder in the repository, without a leading / and without ..")
	}
	i := &inspector{jail: newJail(ctx, tree)}
	return i.folder(path.Join(jailRoot, dir))
}

type inspector struct {
	jail   *jail
	stack  []string // the folders on the way to the present one
	nodes  int
	plugin bool // in a folder of generators or transformers
}

// folder inspects the kustomization of a folder and all that it names.
func (i *inspector) folder(name string) error {
	dir, info, err := i.jail.locate(name)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case slices.Contains(i.stack, dir):
		return fmt.Errorf("%s refers to itself, by way of %s", dir, strings.Join(i.stack, ", "))
	}
	i.stack = append(i.stack, dir)
	defer func() { i.stack = i.stack[:len(i.stack)-1] }()

	base, err := File(i.jail.tree, dir)
	if err != nil {
		return err
	}
	f := file{inspector: i, dir: dir, name: path.Join(dir, base)}
	content, err := i.jail.ReadFile(path.Join(jailRoot, f.name))
	if err != nil {
		return err
	}
	if err := i.yaml(content); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	var k types.Kustomization
	if err := k.Unmarshal(content); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	k.FixKustomization()
	return f.kustomization(k)
}

// yaml returns an error if content is not YAML or too large with its aliases expanded.
func (i *inspector) yaml(content []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var n yaml.Node
		switch err := decoder.Decode(&n); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		size, err := expandedSize(&n)
		if err != nil {
			return err
		}
		if i.nodes += size + 1; i.nodes > maxNodes {
			return fmt.Errorf("the overlay holds more than %d values", maxNodes)
		}
		if err := i.jail.ctx.Err(); err != nil {
			return err
		}
	}
}

// file is a kustomization file whose entries are inspected.
type file struct {
	*inspector
	dir  string // in the tree
	name string
}

func (f file) refuse(field, entry, why string) error {
	return fmt.Errorf("%s: %s: %q %s", f.name, field, entry, why)
}

const isRemote = "is remote; only files of this repository are rendered, copy it into the repository"

var userAtHost = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// remote reports whether kustomize could take entry for something to fetch. It covers more than kustomize does
// (api/internal/git/repospec.go, api/internal/loader/fileloader.go).
func remote(entry string) bool {
	lower := strings.ToLower(entry)
	for _, prefix := range []string{"git::", "github.com/", "github.com:", "http:", "https:"} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	return strings.Contains(entry, "://") || userAtHost.MatchString(entry)
}

// locate returns where in the tree entry lies.
func (f file) locate(field, entry string) (string, fs.FileInfo, error) {
	if remote(entry) {
		return "", nil, f.refuse(field, entry, isRemote)
	}
	if path.IsAbs(entry) {
		return "", nil, f.refuse(field, entry, "is an absolute path; write it relative to the kustomization")
	}
	at := path.Join(f.dir, entry)
	if at == ".." || strings.HasPrefix(at, "../") {
		return "", nil, f.refuse(field, entry, "lies outside of the repository")
	}
	at, info, err := f.jail.locate(path.Join(jailRoot, at))
	if err != nil {
		return "", nil, fmt.Errorf("%s: %s: %q: %w", f.name, field, entry, err)
	}
	return at, info, nil
}

func (f file) kustomization(k types.Kustomization) error {
	if len(k.HelmCharts) > 0 || k.HelmGlobals != nil {
		return fmt.Errorf("%s: helmCharts: Helm charts are not rendered; render the chart into the repository", f.name)
	}
	for _, check := range []func(types.Kustomization) error{f.operands, f.patches, f.files, f.data, f.plugins} {
		if err := check(k); err != nil {
			return err
		}
	}
	return nil
}

func (f file) operands(k types.Kustomization) error {
	for _, entry := range k.Resources {
		at, info, err := f.locate("resources", entry)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = f.folder(path.Join(jailRoot, at))
		} else {
			err = f.yamlFile("resources", entry)
		}
		if err != nil {
			return err
		}
	}
	for _, entry := range k.Components {
		at, _, err := f.locate("components", entry)
		if err != nil {
			return err
		}
		if err := f.folder(path.Join(jailRoot, at)); err != nil {
			return err
		}
	}
	return nil
}

func (f file) yamlFile(field, entry string) error {
	at, _, err := f.locate(field, entry)
	if err != nil {
		return err
	}
	content, err := f.jail.ReadFile(path.Join(jailRoot, at))
	if err != nil {
		return err
	}
	if err := f.yaml(content); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

func (f file) patches(k types.Kustomization) error {
	for _, p := range slices.Concat(k.Patches, k.PatchesJson6902) {
		if p.Path != "" {
			if err := f.yamlFile("patches", p.Path); err != nil {
				return err
			}
		}
		if err := f.yaml([]byte(p.Patch)); err != nil {
			return fmt.Errorf("%s: patches: %w", f.name, err)
		}
	}
	for _, p := range k.PatchesStrategicMerge {
		if err := f.fileOrText("patchesStrategicMerge", string(p)); err != nil {
			return err
		}
	}
	return nil
}

// fileOrText inspects an entry that is either a path or the YAML itself.
func (f file) fileOrText(field, entry string) error {
	if strings.Contains(entry, "\n") {
		if err := f.yaml([]byte(entry)); err != nil {
			return fmt.Errorf("%s: %s: %w", f.name, field, err)
		}
		return nil
	}
	return f.yamlFile(field, entry)
}

func (f file) files(k types.Kustomization) error {
	for field, entries := range map[string][]string{"crds": k.Crds, "configurations": k.Configurations} {
		for _, entry := range entries {
			if err := f.yamlFile(field, entry); err != nil {
				return err
			}
		}
	}
	for _, r := range k.Replacements {
		if r.Path != "" {
			if err := f.yamlFile("replacements", r.Path); err != nil {
				return err
			}
		}
	}
	if p, ok := k.OpenAPI["path"]; ok {
		return f.yamlFile("openapi", p)
	}
	return nil
}

// data inspects the sources of generated ConfigMaps and Secrets, which can be anything but remote.
func (f file) data(k types.Kustomization) error {
	sources := func(field string, s types.KvPairSources) error {
		for _, entry := range slices.Concat(s.FileSources, s.EnvSources, []string{s.EnvSource}) {
			if _, source, ok := strings.Cut(entry, "="); ok {
				entry = source
			}
			if entry == "" {
				continue
			}
			if _, _, err := f.locate(field, entry); err != nil {
				return err
			}
		}
		return nil
	}
	for _, g := range k.ConfigMapGenerator {
		if err := sources("configMapGenerator", g.KvPairSources); err != nil {
			return err
		}
	}
	for _, g := range k.SecretGenerator {
		if err := sources("secretGenerator", g.KvPairSources); err != nil {
			return err
		}
	}
	return nil
}

func (f file) plugins(k types.Kustomization) error {
	for field, entries := range map[string][]string{"generators": k.Generators, "transformers": k.Transformers, "validators": k.Validators} {
		for _, entry := range entries {
			if !strings.Contains(entry, "\n") {
				if _, _, err := f.locate(field, entry); err != nil {
					return err
				}
			}
			return fmt.Errorf("%s: %s: plugins are not run", f.name, field)
		}
	}
	return nil
}
