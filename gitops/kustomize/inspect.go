package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// inspector reads what kustomize is going to read and returns an error for what must not reach it: kustomize fetches
// http and git references by itself and has no option against that.
type inspector struct {
	confined *confined
	budget   budget
	stack    []string // the folders on the way to the present one
	plugins  bool     // in a folder of generators, transformers or validators
	outside  []string // files beside the kustomization that names them
	raw      []string // files that generators read as they are
	schema   bool     // an overlay brings its own OpenAPI schema

	differing *differing // nil: nobody asks what versions of kustomize render otherwise
	reading   string     // the file whose text is inspected
}

// folder inspects the kustomization of a folder of the tree and all that it names.
func (i *inspector) folder(name string) error {
	dir, info, err := i.confined.follow(name)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case slices.Contains(i.stack, dir):
		return fmt.Errorf("%s refers to itself, by way of %s", dir, strings.Join(i.stack, ", "))
	}
	i.stack = append(i.stack, dir)
	defer func(reading string) { i.stack, i.reading = i.stack[:len(i.stack)-1], reading }(i.reading)

	base, err := File(i.confined.tree, dir)
	if err != nil {
		return err
	}
	f := file{inspector: i, dir: dir, name: path.Join(dir, base)}
	k, err := f.read()
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return f.kustomization(k)
}

// file is a kustomization file whose entries are inspected.
type file struct {
	*inspector
	dir  string // in the tree
	name string
}

func (f file) read() (types.Kustomization, error) {
	content, err := f.confined.ReadFile(path.Join(confinedRoot, f.name))
	if err == nil {
		f.inspector.reading = f.name
		err = f.bounded(content)
	}
	if err != nil {
		return types.Kustomization{}, err
	}
	return decode(content)
}

// bounded returns an error if content is not YAML or too large.
func (f file) bounded(content []byte) error {
	if err := f.confined.ctx.Err(); err != nil {
		return err
	}
	return f.budget.spend(content, len(f.stack), func(n *yaml.Node) error {
		if f.differing != nil {
			f.differing.document(f.reading, n)
		}
		return nil
	})
}

func (f file) kustomization(k types.Kustomization) error {
	if len(k.HelmCharts) > 0 || k.HelmGlobals != nil {
		return fmt.Errorf("%s: helmCharts: Helm charts are not rendered; commit what the chart renders to", f.name)
	}
	if only := (types.Kustomization{TypeMeta: k.TypeMeta, MetaData: k.MetaData, Resources: k.Resources}); f.plugins && !reflect.DeepEqual(k, only) {
		return fmt.Errorf("%s: a folder of generators, transformers or validators can only list resources", f.name)
	}
	for _, check := range []func(types.Kustomization) error{f.crowd, f.operands, f.patches, f.files, f.data, f.pluginConfigs} {
		if err := check(k); err != nil {
			return err
		}
	}
	if f.differing != nil {
		f.differing.kustomization(f, k)
	}
	return nil
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

// locate returns where in the tree the entry of a field lies.
func (f file) locate(field, entry string) (string, fs.FileInfo, error) {
	at := path.Join(f.dir, entry)
	var err error
	switch {
	case remote(entry):
		err = errors.New(isRemote)
	case path.IsAbs(entry):
		err = errors.New("is an absolute path; write it relative to the kustomization")
	case at == ".." || strings.HasPrefix(at, "../"):
		err = errors.New("lies outside of the repository")
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %s: %q %w", f.name, field, entry, err)
	}
	at, info, err := f.confined.follow(at)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %s: %q: %w", f.name, field, entry, err)
	}
	if !info.IsDir() && f.dir != "." && !strings.HasPrefix(at, f.dir+"/") && !slices.Contains(f.outside, at) {
		f.outside = append(f.outside, at)
	}
	return at, info, nil
}

func (f file) operands(k types.Kustomization) error {
	for _, entry := range k.Resources {
		at, info, err := f.locate("resources", entry)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = f.folder(at)
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
		if err := f.folder(at); err != nil {
			return err
		}
	}
	return nil
}

// yamlFile inspects a file that kustomize parses.
func (f file) yamlFile(field, entry string) error {
	at, _, err := f.locate(field, entry)
	if err != nil {
		return err
	}
	content, err := f.confined.ReadFile(path.Join(confinedRoot, at))
	f.inspector.reading = at
	defer func() { f.inspector.reading = f.name }()
	switch {
	case err != nil:
	case f.plugins:
		err = f.pluginConfig(content)
	default:
		err = f.bounded(content)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %q: %w", f.name, field, entry, err)
	}
	return nil
}
