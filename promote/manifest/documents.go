package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxName is the most bytes of an object's name.
const maxName = 240

// document is one Kubernetes object of a rendered manifest, its secrets
// replaced by tokens.
type document struct {
	name string // such as `serving.knative.dev/Service shop/checkout`, unique in its manifest
	bare string // the same without the namespace, and not unique; empty where it would be long
	node *yaml.Node
	text string // the node as YAML
}

// documents splits a manifest into its objects, the items of Lists among them.
func documents(manifest []byte, secrets *vault) []document {
	var found []document
	seen := map[string]int{}
	add := func(name, bare string, node *yaml.Node) {
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s (%d)", name, n)
		}
		found = append(found, document{name, bare, node, encode(node, secrets)})
	}
	decoder := yaml.NewDecoder(bytes.NewReader(manifest))
	for {
		var root yaml.Node
		err := decoder.Decode(&root)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			// What cannot be read cannot be searched for secrets either.
			add("manifest that is not YAML", "", &yaml.Node{Kind: yaml.ScalarNode, Value: secrets.hide(string(manifest))})
			return found
		}
		for _, node := range items(&root) {
			secrets.redact(node)
			name, bare := identity(node)
			if secrets.token.MatchString(bare) { // the same token may stand for another secret elsewhere
				bare = ""
			}
			add(name, bare, node)
		}
	}
}

// items returns the objects of a document: itself, or what its List holds.
func items(node *yaml.Node) []*yaml.Node {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	if node.Kind != yaml.MappingNode {
		if node.Kind == yaml.DocumentNode || node.Tag == "!!null" {
			return nil
		}
		return []*yaml.Node{node}
	}
	list := field(node, "items")
	if list == nil || list.Kind != yaml.SequenceNode || !strings.HasSuffix(scalar(field(node, "kind")), "List") {
		return []*yaml.Node{node}
	}
	var found []*yaml.Node
	for _, item := range list.Content {
		found = append(found, items(item)...)
	}
	return found
}

// identity names an object as Argo CD does, group/Kind namespace/name, and without the namespace
// where that need not be cut.
func identity(node *yaml.Node) (full, bare string) {
	kind := scalar(field(node, "kind"))
	if group, _, found := strings.Cut(scalar(field(node, "apiVersion")), "/"); found {
		kind = group + "/" + kind
	}
	metadata := field(node, "metadata")
	name := scalar(field(metadata, "name"))
	if name == "" {
		name = scalar(field(metadata, "generateName")) + "*"
	}
	if bare = kind + " " + name; len(bare) > maxName {
		bare = ""
	}
	if namespace := scalar(field(metadata, "namespace")); namespace != "" {
		name = namespace + "/" + name
	}
	return Brief(kind+" "+name, maxName), bare
}

// field returns the value of a key of a mapping, nil where there is none.
func field(node *yaml.Node, key string) *yaml.Node {
	if node == nil {
		return nil
	}
	if node.Kind == yaml.AliasNode {
		return field(node.Alias, key)
	}
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func scalar(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// encode writes node as YAML in one style, so that quotes and comments, which
// change nothing in the cluster, do not show as changes.
func encode(node *yaml.Node, secrets *vault) string {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(node); err != nil {
		return secrets.hide(err.Error()) + "\n"
	}
	return b.String()
}
