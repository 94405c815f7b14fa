package promotetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// ownFile is the overlay's file with the traffic and the record.
func (h History) ownFile() string {
	return path.Join(h.Overlay, "knative-promote-"+h.Service+".yaml")
}

// keptImages tells whether a step rolled back an image: the first one sets the
// images, and who sets another one afterwards wins. Who has reverted it has set none.
func (j judge) keptImages(before, c Commit) error {
	step := c.step()
	never := func(Commit) bool { return false }
	others := j.promotion(c, never) // the newest first
	if len(others) == 0 || step == "restore" || step == "rollback" {
		return nil
	}
	began := j.byHash[others[len(others)-1].Parents[0]]
	since := changed(began, before)
	for _, name := range changed(before, c) {
		if isKustomization(name) && slices.Contains(since, name) {
			return fmt.Errorf("changes %s again", name)
		}
	}
	return nil
}

// onlyDeclared tells whether a commit changed anything but the overlay's own
// two files, and images and patches in its kustomization. What is in the overlay
// of another promotion of the same commit is judged there. Where the overlay did not
// render, the commit may take out what another Service's file adds to what is gone.
func (j judge) onlyDeclared(before, c Commit) error {
	var broken []error
	for _, name := range changed(before, c) {
		others := slices.ContainsFunc(c.Others, func(other map[string]string) bool {
			return path.Dir(name) == path.Clean(other["Promotion-Overlay"])
		})
		switch {
		case others:
		case path.Dir(name) != path.Clean(j.Overlay):
			broken = append(broken, fmt.Errorf("changes %s outside the overlay", name))
		case name == j.ownFile(), name == strings.TrimSuffix(j.ownFile(), ".yaml")+".defaults.yaml":
		case strings.HasSuffix(name, ".defaults.yaml") && c.Files[name] == nil && !renders(before, j.Overlay):
		case isKustomization(name):
			was, is := undeclared(before.Files[name]), undeclared(c.Files[name])
			if was != is {
				broken = append(broken, fmt.Errorf("changes %s outside images and patches:\n%s\nto\n%s", name, was, is))
			}
		default:
			broken = append(broken, fmt.Errorf("changes %s", name))
		}
	}
	return errors.Join(broken...)
}

// onlyComments tells whether a commit that says that gates have passed changed
// anything but comment lines of the overlay's own file.
func (j judge) onlyComments(before, c Commit) error {
	if names := changed(before, c); !slices.Equal(names, []string{j.ownFile()}) {
		return fmt.Errorf("says that gates have passed, and changes %v", names)
	}
	was, is := withoutComments(before.Files[j.ownFile()]), withoutComments(c.Files[j.ownFile()])
	if was != is {
		return fmt.Errorf("changes more than comments:\n%s\nto\n%s", was, is)
	}
	return nil
}

func renders(c Commit, overlay string) bool {
	_, err := kustomize.Render(context.Background(), c.Files, overlay)
	return err == nil
}

func isKustomization(name string) bool {
	return strings.HasPrefix(strings.ToLower(path.Base(name)), "kustomization")
}

// changed are the files in which a commit differs from another one, sorted.
func changed(before, after Commit) []string {
	var names []string
	for name, file := range after.Files {
		if old := before.Files[name]; old == nil || !bytes.Equal(old.Data, file.Data) {
			names = append(names, name)
		}
	}
	for name := range before.Files {
		if after.Files[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// undeclared is a kustomization without the entries of images and patches.
// Comments between them stay.
func undeclared(file *fstest.MapFile) string {
	var rest strings.Builder
	declared := false
	for line := range lines(file) {
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

func withoutComments(file *fstest.MapFile) string {
	var rest strings.Builder
	for line := range lines(file) {
		if !strings.HasPrefix(line, "#") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

// lines are those of a file; none where there is no file.
func lines(file *fstest.MapFile) iter.Seq[string] {
	if file == nil {
		return func(func(string) bool) {}
	}
	return strings.Lines(string(file.Data))
}
