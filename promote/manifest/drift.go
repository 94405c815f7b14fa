package manifest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// hash is the suffix that kustomize gives the name of a generated ConfigMap or
// Secret, of its content
// (https://github.com/kubernetes-sigs/kustomize/blob/master/api/hasher/hasher.go).
const hash = `-[2456789bcdfghkmt]{10}`

var (
	hashes    = regexp.MustCompile(hash + `\b`)
	hashAtEnd = regexp.MustCompile(hash + `$`)
)

// Hashed tells whether a name ends with a hash, as kustomize's generated ones do.
func Hashed(name string) bool { return hashAtEnd.MatchString(name) }

// WithoutHash is a name without the hash that kustomize gives to generated ones.
func WithoutHash(name string) string { return hashes.ReplaceAllString(name, "") }

// Drift is what changed in another environment from then to now, and is not so
// here: of objects of the same kind and name, wherever they are. What a
// promotion sets is left out: images, names of revisions, traffic. So are
// namespaces, and the hashes in the names of generated objects.
func Drift(then, now, here []byte) Difference {
	then, now, here = alike(then), alike(now), alike(here)
	missing := map[string]Object{} // what differs here from now
	for _, o := range Compare(now, here) {
		missing[o.Name] = o
	}
	var drift Difference
	for _, o := range Compare(then, now) {
		other, differs := missing[o.Name]
		switch {
		case !differs, o.Change == Removed && other.Change != Added, o.Change != Removed && other.Change == Added:
			continue
		case o.Change == Changed && other.Change == Changed:
			o.Fields = slices.DeleteFunc(slices.Clone(o.Fields), func(f Field) bool {
				return set(f.Path) || !slices.ContainsFunc(other.Fields, func(g Field) bool { return g.Path == f.Path }) && other.MoreFields == 0
			})
			if len(o.Fields) == 0 && o.MoreFields == 0 {
				continue
			}
		}
		drift = append(drift, o)
	}
	return drift
}

// set tells whether a promotion sets a field.
func set(path string) bool {
	return path == "spec.template.metadata.name" || path == "spec.traffic" || strings.HasPrefix(path, "spec.traffic[") || strings.HasSuffix(path, ".image")
}

// alike is a manifest without what differs between environments by nature.
// What is no YAML is compared as it is.
func alike(manifest []byte) []byte {
	decoder := yaml.NewDecoder(bytes.NewReader(hashes.ReplaceAll(manifest, nil)))
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	for {
		var root yaml.Node
		err := decoder.Decode(&root)
		if err != nil {
			break
		}
		for _, object := range items(&root) {
			without(field(object, "metadata"), "namespace")
			if err := encoder.Encode(object); err != nil {
				return manifest
			}
		}
	}
	if err := encoder.Close(); err != nil {
		return manifest
	}
	return out.Bytes()
}

// without takes a key out of a mapping.
func without(node *yaml.Node, key string) {
	if node == nil || node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content = slices.Delete(node.Content, i, i+2)
			return
		}
	}
}
