package kustomize

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/oneline"
)

// kustomization looks at what a kustomization itself says.
func (d *differing) kustomization(f file, k types.Kustomization) {
	d.renames = d.renames || k.NamePrefix+k.NameSuffix != ""
	for _, i := range k.Images {
		d.image(f.name, i)
	}
	for _, p := range k.Patches {
		d.patch(f, f.name, p.Path, p.Patch, p.Options)
	}
	for _, r := range k.Replacements {
		d.replacement(f, r)
	}
}

func (d *differing) image(file string, i types.Image) {
	if !d.again {
		d.images = append(d.images, imageEntry{file, Image{Name: i.Name}})
	}
}

// patch looks at a patch that is a text or in a file, and at its options. 5.7 reads their names as they are written.
func (d *differing) patch(f file, where, name, text string, options map[string]bool) {
	for option := range options {
		if option != "allowNameChange" && option != "allowKindChange" {
			d.add(where, since58, "Write allowNameChange and allowKindChange alone, in this spelling",
				"a patch has the option %q, which kustomize ignores before 5.8, and since reads as another spelling or refuses", oneline.Brief(option))
		}
	}
	contents := []string{strings.TrimSpace(text)}
	if name != "" {
		where, contents = path.Join(f.dir, name), f.contents(name)
	}
	for _, content := range contents {
		if content != "" && begins(content) == nil {
			d.add(where, since57, "Remove the patch", "a patch begins with nothing, as where it holds comments alone: before 5.7 kustomize refuses that, and since it passes it over")
		}
		if deletesFirst(content) {
			d.add(where, since57, "Write each patch into a file of its own", "a patch deletes an object and goes on with another document: before 5.7 kustomize fails on that")
		}
	}
}

// contents are what a name may stand for, which a plugin reads from the folder of whoever names its configuration.
func (f file) contents(name string) (all []string) {
	for _, dir := range f.stack {
		at, info, err := f.confined.follow(path.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if content, err := f.confined.ReadFile(path.Join(confinedRoot, at)); err == nil {
			all = append(all, string(content))
		}
	}
	return all
}

// begins is the first document of a text; nil where that says nothing.
func begins(text string) *yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		return &n // which no version takes
	}
	if len(n.Content) == 0 || n.Content[0].ShortTag() == "!!null" {
		return nil
	}
	if root := n.Content[0]; root.Kind != yaml.ScalarNode && root.Kind != yaml.AliasNode && len(root.Content) == 0 {
		return nil
	}
	return &n
}

// deletesFirst tells whether an object of a text that is not its last one is to be deleted.
func deletesFirst(content string) bool {
	var all []*yaml.Node
	for documents := yaml.NewDecoder(strings.NewReader(content)); ; {
		var n yaml.Node
		if err := documents.Decode(&n); err != nil {
			break
		}
		if len(n.Content) > 0 {
			all = append(all, listed(n.Content[0])...)
		}
	}
	first := all[:max(len(all)-1, 0)]
	return slices.ContainsFunc(first, func(n *yaml.Node) bool { return exact(n, "$patch") == "delete" })
}

// listed are the items of a list of objects, and of lists in it, or the value itself: kustomize takes those out.
func listed(n *yaml.Node) []*yaml.Node {
	n = resolve(n)
	items := exactly(n, "items")
	if !strings.HasSuffix(exact(n, "kind"), "List") || items == nil {
		return []*yaml.Node{n}
	}
	var all []*yaml.Node
	for _, item := range items.Content {
		all = append(all, listed(item)...)
	}
	return all
}

// replacement looks at one that stands in a file of its own or where it is used.
func (d *differing) replacement(f file, r types.ReplacementField) {
	if r.Path == "" {
		d.replaces(f.name, r.Replacement)
		return
	}
	for _, content := range f.contents(r.Path) {
		var all []types.Replacement
		if err := kyaml.Unmarshal([]byte(content), &all); err != nil {
			var one types.Replacement
			if kyaml.Unmarshal([]byte(content), &one) != nil {
				continue // which kustomize refuses too
			}
			all = []types.Replacement{one}
		}
		for _, one := range all {
			d.replaces(path.Join(f.dir, r.Path), one)
		}
	}
}

// plugin looks at the configuration of a builtin plugin.
func (d *differing) plugin(f file, config *yaml.Node) {
	content, err := yaml.Marshal(config)
	if err != nil {
		return
	}
	switch kind := exact(config, "kind"); kind {
	case "PatchTransformer":
		var p struct {
			Path, Patch string
			Options     map[string]bool
		}
		if kyaml.Unmarshal(content, &p) == nil {
			d.patch(f, f.name, p.Path, p.Patch, p.Options)
		}
	case "ReplacementTransformer":
		var p struct {
			Replacements []types.ReplacementField
			Omitempty    any `json:"omitempty"`
		}
		if kyaml.Unmarshal(content, &p) != nil {
			return
		}
		for _, r := range p.Replacements {
			d.replacement(f, r)
		}
		if p.Omitempty != nil {
			d.add(f.name, since57, "Write replacements", "a ReplacementTransformer has the key omitempty, which kustomize before 5.7 reads as replacements, and since ignores")
		}
	case "ImageTagTransformer":
		var p struct{ ImageTag types.Image }
		if kyaml.Unmarshal(content, &p) == nil {
			d.image(f.name, p.ImageTag)
		}
	case "PrefixTransformer", "SuffixTransformer":
		d.renames = true
	}
}

var noReplacement types.Replacement

// replaces looks at a replacement.
func (d *differing) replaces(file string, r types.Replacement) {
	if reflect.DeepEqual(r, noReplacement) {
		return
	}
	if r.SourceValue != nil {
		d.add(file, since57, "Take the value from a field of an object, such as a ConfigMap's, with source",
			"a replacement has a sourceValue, which kustomize takes since 5.7, and refuses before")
	}
	for _, t := range r.Targets {
		if t == nil {
			continue
		}
		fields := strings.Join(t.FieldPaths, ", ")
		d.renames = d.renames || fields == "" || renamed(t.FieldPaths)
		d.fieldPaths(file, t)
		d.selector(file, "select", t.Select, fields)
		for _, reject := range t.Reject {
			d.selector(file, "reject", reject, fields)
		}
	}
}

// renamed tells whether one of the fields may be the name of an object.
func renamed(fields []string) bool {
	for _, f := range fields {
		f = strings.TrimSpace(f)
		if strings.HasPrefix(f, "metadata") && !strings.HasPrefix(f, "metadata.labels") && !strings.HasPrefix(f, "metadata.annotations") || strings.HasPrefix(f, "*") {
			return true
		}
	}
	return false
}

// fieldPaths looks at the fields of a replacement's target, and notes one that may be the image of a volume, whatever it is given.
func (d *differing) fieldPaths(file string, t *types.TargetSelector) {
	for _, f := range t.FieldPaths {
		if strings.HasSuffix(plainPath(f), "image.reference") {
			d.volume(file, "")
		}
		if goesIntoText(f) {
			d.add(file, since58, "Replace the item as a whole, or a part of its text with delimiter and index",
				"the field path %q goes on behind an item that is a text: kustomize before 5.8 passes over what follows, and since looks into the text", oneline.Brief(f))
		}
		if !matchesItself(f) {
			d.add(file, since58, "Write a value in the brackets that matches itself as a regular expression",
				"the field path %q is looked for as it is written since kustomize 5.8, before its values in brackets are taken for regular expressions", oneline.Brief(f))
		}
		d.replaced = append(d.replaced, replacedField{file, f})
	}
}

func (d *differing) volume(file, reference string) {
	if !d.again {
		d.volumes = append(d.volumes, imageVolume{file, reference})
	}
}
