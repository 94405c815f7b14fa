package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/gittest"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// checkPromises looks at all that a script has left behind, and says which of
// the product's promises are broken. The number is that of the program's own
// commits that were checked.
func (w *world) checkPromises() (int, error) {
	history, err := w.history()
	if err != nil {
		return 0, err
	}
	broken := []error{w.forced(), w.keptForeign(history), w.hidesSecrets()}
	own, steps, begun := 0, map[string]string{}, map[string]bool{}
	for i, c := range history {
		if len(c.trailers["Promotion"]) < 3 { // somebody's, who may merge and write what they like
			continue
		}
		if c.parents != 1 {
			broken = append(broken, fmt.Errorf("commit %.10s has %d parents", c.hash, c.parents))
		}
		own++
		step := c.trailers["Promotion"] + " " + c.trailers["Promotion-Step"]
		if c.trailers["Promotion-Passed"] != "" {
			step += " passed"
			if err := w.onlyComments(history[i-1], c); err != nil {
				broken = append(broken, err)
			}
		}
		if other, twice := steps[step]; twice {
			broken = append(broken, fmt.Errorf("commits %.10s and %.10s are both step %s", other, c.hash, step))
		}
		steps[step] = c.hash
		if err := w.keptImages(history[i-1], c, begun); err != nil {
			broken = append(broken, err)
		}
		begun[c.trailers["Promotion"]] = true
		if err := w.checkCommit(history[i-1], c); err != nil {
			broken = append(broken, fmt.Errorf("commit %.10s (%s): %w", c.hash, c.subject, err))
		}
	}
	return own, errors.Join(broken...)
}

// record is a commit of the infra repository with its whole tree.
type record struct {
	hash, subject string
	parents       int
	trailers      map[string]string
	files         fstest.MapFS
}

// history is the branch, oldest first.
func (w *world) history() ([]record, error) {
	out, err := gittest.Git(w.bare, nil, "log", "--reverse", "--topo-order", "-z", "--format=%H%n%P%n%s%n%(trailers:only,unfold)", "main")
	if err != nil {
		return nil, err
	}
	var history []record
	for text := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		fields := strings.SplitN(text, "\n", 4)
		c := record{hash: fields[0], parents: len(strings.Fields(fields[1])), subject: fields[2], trailers: map[string]string{}}
		for line := range strings.Lines(fields[3]) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			c.trailers[key] = value
		}
		if c.files, err = w.tree(c.hash); err != nil {
			return nil, err
		}
		history = append(history, c)
	}
	return history, nil
}

func (w *world) tree(commit string) (fstest.MapFS, error) {
	archive, err := gittest.Git(w.bare, nil, "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for r := tar.NewReader(strings.NewReader(archive)); ; {
		header, err := r.Next()
		if err != nil {
			return files, unless(err, io.EOF)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		var content bytes.Buffer
		if _, err := io.Copy(&content, r); err != nil {
			return nil, err
		}
		files[header.Name] = &fstest.MapFile{Data: content.Bytes(), Mode: 0o644}
	}
}

func unless(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// forced tells whether anybody tried to push what is not a descendant.
func (w *world) forced() error {
	text, err := os.ReadFile(filepath.Join(w.bare, "forced"))
	if err != nil {
		return unless(err, os.ErrNotExist)
	}
	return fmt.Errorf("pushes that are not fast-forward: %s", text)
}

// keptForeign tells whether a commit of somebody else was lost.
func (w *world) keptForeign(history []record) error {
	for _, hash := range w.foreign {
		if !slices.ContainsFunc(history, func(c record) bool { return c.hash == hash }) {
			return fmt.Errorf("the foreign commit %s is not in the branch any more", hash)
		}
	}
	return nil
}

// checkCommit checks one of the program's commits.
func (w *world) checkCommit(before, c record) error {
	broken := []error{w.onlyDeclared(before, c)}
	targets, err := w.targets(c)
	if err != nil {
		return errors.Join(append(broken, err)...)
	}
	sum := 0
	for _, t := range targets {
		percent := int(t.Percent)
		sum += percent
		switch {
		case t.Percent != float64(percent) || percent < 0 || percent > 100:
			broken = append(broken, fmt.Errorf("%v %% is no whole percentage", t.Percent))
		case percent > 0 && (t.RevisionName == "" || t.LatestRevision):
			broken = append(broken, fmt.Errorf("%d %% go to a revision without a name", percent))
		case percent > 0 && !w.mayServe(c, t.RevisionName):
			broken = append(broken, fmt.Errorf("%d %% go to %s, which had not been ready", percent, t.RevisionName))
		}
	}
	if sum != 100 {
		broken = append(broken, fmt.Errorf("the traffic sums to %d", sum))
	}
	return errors.Join(broken...)
}

// keptImages tells whether a step rolled back an image: the first one sets the
// images, and who sets another one afterwards wins.
func (w *world) keptImages(before, c record, begun map[string]bool) error {
	step := c.trailers["Promotion-Step"]
	if !begun[c.trailers["Promotion"]] || step == "restore" || step == "rollback" {
		return nil
	}
	for _, name := range changedFiles(before.files, c.files) {
		if strings.HasPrefix(strings.ToLower(path.Base(name)), "kustomization") {
			return fmt.Errorf("commit %.10s (%s) changes %s again", c.hash, c.subject, name)
		}
	}
	return nil
}

// mayServe tells whether a revision was ready before the commit. A first
// deployment has nothing that was, and a rollback may create a revision again.
func (w *world) mayServe(c record, revision string) bool {
	first := c.trailers["Promotion-From"] == ""
	again := c.trailers["Promotion-Step"] == "rollback" && strings.Contains(c.subject, "back to")
	return first || again || slices.Contains(w.readyAt[c.hash], revision)
}

// target is one of a Service's traffic targets as any YAML reader sees it.
type target struct {
	RevisionName   string  `json:"revisionName"`
	LatestRevision bool    `json:"latestRevision"`
	Percent        float64 `json:"percent"`
}

// targets renders the overlay and reads the Service's traffic.
func (w *world) targets(c record) ([]target, error) {
	ctx, stop := context.WithTimeout(context.Background(), longest) // in a test's process one renders at a time
	defer stop()
	manifests, err := kustomize.Render(ctx, c.files, w.path)
	if err != nil {
		return nil, fmt.Errorf("does not render: %w", err)
	}
	for document := range strings.SplitSeq(string(manifests), "\n---\n") {
		var object struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
			Spec             struct{ Traffic []target }
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, err
		}
		if object.Kind == "Service" && strings.HasPrefix(object.APIVersion, "serving.knative.dev/") && object.Metadata.Name == w.service {
			return object.Spec.Traffic, nil
		}
	}
	return nil, fmt.Errorf("does not render the Service %s", w.service)
}

// onlyDeclared tells whether a commit changed anything but the overlay's own
// two files, and images and patches in its kustomization.
func (w *world) onlyDeclared(before, c record) error {
	var broken []error
	for _, name := range changedFiles(before.files, c.files) {
		base := path.Base(name)
		switch {
		case path.Dir(name) != w.path:
			broken = append(broken, fmt.Errorf("changes %s outside the overlay", name))
		case base == "knative-promote-"+w.service+".yaml", base == "knative-promote-"+w.service+"-defaults.yaml":
		case strings.HasPrefix(strings.ToLower(base), "kustomization"):
			was, is := undeclared(before.files[name]), undeclared(c.files[name])
			if was != is {
				broken = append(broken, fmt.Errorf("changes %s outside images and patches:\n%s\nto\n%s", name, was, is))
			}
		default:
			broken = append(broken, fmt.Errorf("changes %s", name))
		}
	}
	return errors.Join(broken...)
}

func changedFiles(before, after fstest.MapFS) []string {
	var names []string
	for name, file := range after {
		if old := before[name]; old == nil || !bytes.Equal(old.Data, file.Data) {
			names = append(names, name)
		}
	}
	for name := range before {
		if after[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// undeclared is a kustomization without the entries of images and patches.
// Comments between them stay.
func undeclared(file *fstest.MapFile) string {
	if file == nil {
		return ""
	}
	var rest strings.Builder
	declared := false
	for line := range strings.Lines(string(file.Data)) {
		text := strings.TrimRight(line, "\r\n")
		entry := strings.HasPrefix(text, " ") || strings.HasPrefix(text, "-")
		switch {
		case strings.HasPrefix(text, "images:"), strings.HasPrefix(text, "patches:"):
			declared = true
		case declared && (entry || text == "") && !strings.HasPrefix(strings.TrimSpace(text), "#"):
		default:
			declared = declared && strings.HasPrefix(strings.TrimSpace(text), "#")
			rest.WriteString(line)
		}
	}
	return strings.TrimRight(rest.String(), "\r\n")
}
