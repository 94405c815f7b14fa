package kustomize

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/acme/knative-promote/internal/oneline"
)

// Since 5.8 what the targets of replacements select and reject are regular expressions, as they were in the targets of
// patches, and a namespace is compared as it is written.
// https://github.com/kubernetes-sigs/kustomize/blob/api/v0.21.1/api/types/replacement.go

// A dotted selector is a name but for its dots, which stand for any character in a regular expression. It is the same in
// all versions where nothing of the overlay matches it that is not the name itself.
type dotted struct {
	Difference
	text    string
	pattern *regexp.Regexp
	made    bool // it selects names that need not stand in any file
	matches bool // something else
}

const plainly = "Select and reject by names without the characters of regular expressions, each in an entry of its own"

// selector looks at an entry that selects or rejects objects.
func (d *differing) selector(file, key string, s *types.Selector, fields string) {
	if s == nil {
		return
	}
	for _, part := range []struct{ name, text string }{
		{"group", s.Group}, {"version", s.Version}, {"kind", s.Kind}, {"name", s.Name}, {"namespace", s.Namespace},
	} {
		what := fmt.Sprintf("%s: %s: %q of the replacement of %s is a regular expression since kustomize 5.8, and was a plain text before", key, part.name, oneline.Brief(part.text), oneline.Brief(fields))
		pattern, err := regexp.Compile("^(?:" + part.text + ")$")
		switch {
		case err != nil || strings.ContainsAny(part.text, `\+*?()|[]{}^$`):
			d.add(file, since58, plainly, "%s", what)
		case strings.Contains(part.text, ".") && !d.again:
			d.dotted = append(d.dotted, dotted{
				Difference: Difference{File: file, What: what, Since: since58, Instead: plainly},
				text:       part.text, pattern: pattern, made: part.name == "name" && !keepsName(s.Kind),
			})
		}
	}
	if s.Namespace == "default" || s.Namespace != "" && s.Gvk.IsClusterScoped() {
		d.add(file, since58, "Leave the namespace out, and select by kind and name",
			"%s: namespace: %q of the replacement of %s is compared as it is written since kustomize 5.8; before, no namespace was the same as default, and that of an object without any was not looked at", key, oneline.Brief(s.Namespace), oneline.Brief(fields))
	}
}

// keepsName tells whether namePrefix and nameSuffix leave the names of a kind alone.
// https://github.com/kubernetes-sigs/kustomize/blob/api/v0.20.1/api/internal/builtins/PrefixTransformer.go
func keepsName(kind string) bool {
	return slices.Contains([]string{"CustomResourceDefinition", "APIService", "Namespace"}, kind)
}

// dottedSelectors adds those that select something else.
func (d *differing) dottedSelectors() {
	for _, s := range d.dotted {
		if s.matches || d.unsure || s.made && d.renames {
			d.found = append(d.found, s.Difference)
		}
	}
}

// helmGenerated is an annotation that kustomize 5.8 goes by, also where a file has it.
const helmGenerated = "config.kubernetes.io/helm-generated"

// document looks at a document of a file.
func (d *differing) document(file string, n *yaml.Node) {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if !d.again {
		d.lists(file, resolve(n))
	}
	d.values(file, n)
}

// lists looks for a list without items, also in another list.
func (d *differing) lists(file string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode || !strings.HasSuffix(exact(n, "kind"), "List") || exact(n, "apiVersion") == "" {
		return
	}
	items := exactly(n, "items")
	if items == nil {
		d.add(file, since55, "Give the object another kind, or deploy it by another source",
			"%s is left out by kustomize before 5.5, as a list without items, and is an object since", oneline.Brief(text(n, "kind")))
		return
	}
	for _, item := range items.Content {
		d.lists(file, resolve(item))
	}
}

// imageOfVolume finds the path of a volume's image.
var imageOfVolume = regexp.MustCompile(`image(?:\[\])?[/.]reference(?:\[\])?$`)

// values looks at all that a value holds. What an alias stands for is looked at where it is written.
func (d *differing) values(file string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		d.value(file, n.Value)
	}
	if reference := exactly(n, "reference"); reference != nil && reference.Kind == yaml.ScalarNode {
		d.volume(file, reference.Value)
	}
	switch op := text(n, "op"); {
	case !imageOfVolume.MatchString(plainPath(text(n, "path") + text(n, "fieldPath"))):
	case op == "move", op == "copy", op == "": // any image, as a plugin puts it together
		d.volume(file, "")
	case at(n, "value") != nil:
		d.volume(file, text(n, "value"))
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && resolve(n.Content[i+1]).ShortTag() == "!!null" {
			d.nulls[child.Value] = true
		}
		d.values(file, child)
	}
}

func (d *differing) value(file, text string) {
	if strings.Contains(plainPath(text), helmGenerated) && !strings.Contains(text, "\n") {
		d.add(file, since58, "Remove the annotation", "the annotation internal.%s keeps kustomize since 5.8 from setting the namespace of an object, and no version before", helmGenerated)
	}
	if !d.again {
		return
	}
	if d.looks += len(d.dotted); d.looks > maxLooks {
		d.unsure = true
		return
	}
	group, version, _ := strings.Cut(text, "/")
	for i, s := range d.dotted {
		for _, t := range []string{text, group, version} {
			if t != s.text && s.pattern.MatchString(t) {
				d.dotted[i].matches = true
			}
		}
	}
}
