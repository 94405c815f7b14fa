//go:build cluster

package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// A site is what one scenario has to itself: a Service in a namespace, its
// infra repository, and the Application that deploys it.
type site struct {
	*testing.T
	Service   string
	Namespace string
	Overlay   string // folder in the infra repository
	Image     string // without tag
	URL       string // of the infra repository
	Dir       string // the bare repository
	Seed      string // commit that the scenario began with
	Host      string // where Knative has another pattern for it
	App       *unstructured.Unstructured

	reviewed bool // commits come by pull requests
}

// A layout is what a scenario may change before its site is made.
type layout struct {
	Service string // as in the files
	Overlay string
	Files   fstest.MapFS               // the infra repository
	App     *unstructured.Unstructured // without its source's repoURL

	// Host makes the infra repository and returns its folder too.
	Host func(name string, files fstest.MapFS) (url, dir string, err error)
}

// newSite makes the infra repository from the project's example, as changed,
// deploys it, and waits until it is live. When the scenario has ended, what
// every one must leave behind is checked.
func newSite(t *testing.T, change ...func(*layout)) *site {
	t.Helper()
	return newSiteNamed(t, nameOf(t.Name()), change...)
}

// newSiteNamed is newSite for a scenario that has more than one.
func newSiteNamed(t *testing.T, name string, change ...func(*layout)) *site {
	t.Helper()
	s := prepareNamed(t, name, change...)
	s.must(kube.Deploy(s.Context(), s.App))
	t.Cleanup(s.checkPromises)
	return s
}

// prepare is newSite without an Application in Argo CD.
func prepare(t *testing.T, change ...func(*layout)) *site {
	t.Helper()
	return prepareNamed(t, nameOf(t.Name()), change...)
}

func prepareNamed(t *testing.T, name string, change ...func(*layout)) *site {
	t.Helper()
	s := &site{T: t, Service: name}
	l := &layout{Service: s.Service, Overlay: "apps/" + s.Service + "/overlays/production", Files: example(t, s.Service)}
	l.App = plane.Application(s.Service, "", l.Overlay, s.Service)
	l.Host = onGitServer
	for _, c := range change {
		c(l)
	}
	url, dir, err := l.Host(s.Service, l.Files)
	s.must(err)
	s.URL, s.Overlay, s.App, s.Service = url, l.Overlay, l.App, l.Service
	s.Dir = dir
	s.Image = "ghcr.io/acme/app"
	s.Namespace, _, _ = unstructured.NestedString(s.App.Object, "spec", "destination", "namespace")
	s.must(setRepository(s.App, url))
	s.Seed = s.git("rev-parse", "main")
	t.Cleanup(s.leave)
	return s
}

// onGitServer makes an infra repository on the control plane's Git server.
func onGitServer(name string, files fstest.MapFS) (url, dir string, err error) {
	url, err = world.Repository(name, files)
	return url, filepath.Join(world.Repositories(), name+".git"), err
}

// setRepository sets the repository of every source of an Application.
func setRepository(app *unstructured.Unstructured, url string) error {
	sources, several, _ := unstructured.NestedSlice(app.Object, "spec", "sources")
	if !several {
		return unstructured.SetNestedField(app.Object, url, "spec", "source", "repoURL")
	}
	for _, source := range sources {
		source.(map[string]any)["repoURL"] = url
	}
	return unstructured.SetNestedSlice(app.Object, sources, "spec", "sources")
}

// neighbour is another Service in the same infra repository, with an
// Application of its own.
func (s *site) neighbour(n int) *site {
	s.Helper()
	other := *s
	other.Service = fmt.Sprintf("%s-%d", s.Service, n)
	other.Namespace, other.Overlay = other.Service, "apps/"+other.Service+"/overlays/production"
	other.App = plane.Application(other.Service, s.URL, other.Overlay, other.Namespace)
	s.must(gittest.Commit(s.Dir, "main", "Add "+other.Service, example(s.T, other.Service)))
	s.Seed = s.git("rev-parse", "main")
	s.must(kube.Deploy(s.Context(), other.App))
	s.Cleanup(other.leave)
	return &other
}

// leave takes the Application and its Services away, so that the control plane
// has not to carry the sites of all scenarios at once. The namespace stays:
// while one ends, all controllers try in vain to put back what they miss in it.
func (s *site) leave() {
	if s.Failed() {
		return // to be looked at
	}
	ctx := context.WithoutCancel(s.Context())
	now := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &now}
	if err := kube.Resource(applications).Namespace(s.App.GetNamespace()).Delete(ctx, s.App.GetName(), options); err != nil {
		s.Log(err)
	}
	if err := kube.Resource(services).Namespace(s.Namespace).DeleteCollection(ctx, options, metav1.ListOptions{}); err != nil {
		s.Log(err)
	}
}

// nameOf makes a Service's name of a test's: short, since Knative adds to it,
// and another one in every run, since a control plane may outlive it.
func nameOf(test string) string {
	name := regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(strings.TrimPrefix(test, "Test"), "$1-$2")
	name = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	sum := sha256.Sum256(fmt.Append(nil, test, os.Getpid()))
	return strings.TrimRight(name[:min(23, len(name))], "-") + "-" + hex.EncodeToString(sum[:2])
}

// example is the project's example infra repository with product-import's
// production alone, under another name and in a namespace of that name.
func example(t *testing.T, service string) fstest.MapFS {
	t.Helper()
	folder, err := plane.Example(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	err = fs.WalkDir(os.DirFS(folder), "apps/product-import", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(path, "/staging/") {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, path))
		// An image's name says how its pods behave, so a scenario's name must not be in it.
		rename := strings.NewReplacer("ghcr.io/acme/product-import", "ghcr.io/acme/app", "product-import", service, "namespace: production", "namespace: "+service).Replace
		files[rename(path)] = &fstest.MapFile{Data: []byte(rename(string(content))), Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// set writes a file of the layout, below the overlay where the path begins
// with a dot.
func (l *layout) set(path, content string) {
	if strings.HasPrefix(path, "./") {
		path = l.Overlay + path[1:]
	}
	l.Files[path] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
}

// base is the file of the Service's base manifest.
func (l *layout) base() string { return baseOf(l.Service) }

// baseOf is the path of a Service's manifest in its base.
func baseOf(service string) string { return "apps/" + service + "/base/knative-service.yaml" }

// push commits files to the infra repository as somebody else would.
func (s *site) push(message string, files map[string]string) string {
	s.Helper()
	content := fstest.MapFS{}
	for path, text := range files {
		if rest, inside := strings.CutPrefix(path, "./"); inside {
			path = s.Overlay + "/" + rest
		}
		content[path] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	s.must(gittest.Commit(s.Dir, "main", message, content))
	return s.git("rev-parse", "main")
}

// read is a file at the branch's tip, below the overlay where the path begins
// with a dot.
func (s *site) read(path string) string {
	s.Helper()
	if rest, inside := strings.CutPrefix(path, "./"); inside {
		path = s.Overlay + "/" + rest
	}
	return s.git("show", "main:"+path) + "\n"
}

// git asks the bare repository.
func (s *site) git(args ...string) string {
	s.Helper()
	out, err := gittest.Git(s.Dir, nil, args...)
	s.must(err)
	return out
}

// tree is the overlay's folder at a commit, without the record.
func (s *site) tree(commit string) string {
	own := "knative-promote-" + s.Service + ".yaml"
	var tree strings.Builder
	for line := range strings.Lines(s.git("ls-tree", "-r", commit+":"+s.Overlay)) {
		if !strings.HasSuffix(line, "\t"+own+"\n") {
			tree.WriteString(line)
			continue
		}
		for line := range strings.Lines(s.git("show", commit+":"+s.Overlay+"/"+own)) {
			if !strings.HasPrefix(line, "#") {
				tree.WriteString(line)
			}
		}
	}
	return tree.String()
}

// log is git's log of the commits since the scenario began, but for those that
// say that gates have passed.
func (s *site) log(args ...string) string {
	s.Helper()
	return s.git(slices.Concat([]string{"log", "--first-parent", "--invert-grep", "--grep=^Promotion-Passed: "}, args, []string{s.Seed + "..main"})...)
}

// commits are the subjects of those, oldest first.
func (s *site) commits() []string {
	out := s.log("--reverse", "--format=%s")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
