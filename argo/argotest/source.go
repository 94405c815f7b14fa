package argotest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// instanceLabel is how Argo CD by default marks what belongs to an Application.
const instanceLabel = "app.kubernetes.io/instance"

// source is where an Application's manifests come from: what the repo server is in Argo CD.
type source struct {
	gitDir, branch, path string
	namespace            string // of objects that have none
	label                string // value of the instance label
}

// resolve returns the commit that a revision names; empty is the branch's tip.
func (s source) resolve(ctx context.Context, revision string) (string, error) {
	if revision == "" || revision == s.branch {
		revision = "refs/heads/" + s.branch
	}
	out, err := s.git(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("unable to resolve '%s' to a commit SHA: %w", revision, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// render builds the overlay at a commit.
func (s source) render(ctx context.Context, commit string) ([]*unstructured.Unstructured, error) {
	archive, err := s.git(ctx, "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	fsys, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	if !fsys.Exists(path.Join("/", s.path)) {
		return nil, fmt.Errorf("%s: app path does not exist", s.path)
	}
	resources, err := build(fsys, path.Join("/", s.path))
	if err != nil {
		return nil, fmt.Errorf("`kustomize build <path to cached source>/%s` failed exit status 1: Error: %w", s.path, err)
	}
	var manifests []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		data, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		manifest := &unstructured.Unstructured{}
		if err := manifest.UnmarshalJSON(data); err != nil {
			return nil, err
		}
		manifests = append(manifests, s.own(manifest))
	}
	return manifests, nil
}

// building is held by the build that runs: kustomize reads its schema into global variables, and some of it reads them
// without a lock.
var building sync.Mutex

func build(fsys filesys.FileSystem, dir string) (resmap.ResMap, error) {
	building.Lock()
	defer building.Unlock()
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, dir)
}

// own marks a manifest as the Application's.
func (s source) own(manifest *unstructured.Unstructured) *unstructured.Unstructured {
	if manifest.GetNamespace() == "" && manifest.GetKind() != "Namespace" {
		manifest.SetNamespace(s.namespace)
	}
	labels := manifest.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[instanceLabel] = s.label
	manifest.SetLabels(labels)
	return manifest
}

func (s source) git(ctx context.Context, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"--git-dir", s.gitDir}, args...)...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

func unpack(archive []byte) (filesys.FileSystem, error) {
	fsys := filesys.MakeFsInMemory()
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return fsys, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			return nil, err
		}
		if err := fsys.WriteFile("/"+header.Name, data); err != nil {
			return nil, err
		}
	}
}
