package argotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// instanceLabel is how Argo CD by default marks what belongs to an Application.
const instanceLabel = "app.kubernetes.io/instance"

// source is where an Application's manifests come from: what the repo server is in Argo CD.
type source struct {
	gitDir, branch, path string
	namespace            string // of objects that have none
	label                string // value of the instance label
}

// resolve returns the commit that a revision names; empty is the branch's tip. Of references of the
// branch's short name Argo CD takes any, here it is the one that is not the branch.
func (s source) resolve(ctx context.Context, revision string) (string, error) {
	if revision == "" || revision == s.branch {
		for _, kind := range []string{"refs/", "refs/tags/", "refs/heads/"} {
			revision = kind + s.branch
			// Git writes a branch's file whole, and a process to ask for it costs more than all else.
			if text, err := os.ReadFile(filepath.Join(s.gitDir, filepath.FromSlash(revision))); err == nil {
				return strings.TrimSpace(string(text)), nil
			}
		}
	}
	out, err := s.git(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("unable to resolve '%s' to a commit SHA: %w", revision, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// renderTime bounds a render. In one process kustomize renders for one server at a time, and a test may
// have many.
const renderTime = 10 * time.Minute

// render builds the overlay at a commit.
func (s source) render(ctx context.Context, commit string) ([]*unstructured.Unstructured, error) {
	tree, err := gittest.Tree(s.gitDir, commit)
	if err != nil {
		return nil, fmt.Errorf("reading the files of %s: %w", commit, err)
	}
	if _, err := fs.Stat(tree, path.Clean(s.path)); err != nil {
		return nil, fmt.Errorf("%s: app path does not exist", s.path)
	}
	ctx, stop := context.WithTimeout(ctx, renderTime)
	defer stop()
	rendered, err := kustomize.Render(ctx, tree, s.path)
	if err != nil {
		return nil, fmt.Errorf("`kustomize build <path to cached source>/%s` failed exit status 1: Error: %w", s.path, err)
	}
	return s.manifests(rendered)
}

func (s source) manifests(rendered []byte) ([]*unstructured.Unstructured, error) {
	var manifests []*unstructured.Unstructured
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(rendered), 4096); ; {
		manifest := &unstructured.Unstructured{}
		if err := documents.Decode(manifest); errors.Is(err, io.EOF) {
			return manifests, nil
		} else if err != nil {
			return nil, err
		}
		manifests = append(manifests, s.own(manifest))
	}
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
