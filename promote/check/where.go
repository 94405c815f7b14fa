package check

import "go.yaml.in/yaml/v3"

// A place is a line of a file of the infra repository, for Finding.
type place struct {
	File string
	Line int // from 1; 0: the whole file
}

// inService finds the line that gives the rendered Knative Service the field
// at keys: strings into mappings, numbers into lists.
func (f Facts) inService(keys ...any) place {
	return f.where("serving.knative.dev/v1", "Service", f.Request.Service, keys...)
}

// where finds the line that gives a rendered object the field at keys. Of
// several files the one that kustomize reads last wins, patches before
// resources. Without the field it is where its nearest parent stands, without
// the object the overlay's kustomization.
//
// It is for people to find the place. What a transformer, an inline patch or a
// JSON patch sets has no line of its own.
func (f Facts) where(apiVersion, kind, name string, keys ...any) place {
	at, _ := f.nearest(apiVersion, kind, name, keys...)
	return at
}

// inTarget finds the line of a target in the traffic of the rendered Service. Where later is true it is none of
// the list: a patch or a transformer adds it to that.
func (f Facts) inTarget(i int) (at place, later bool) {
	const ofList = 2 // spec and traffic
	at, depth := f.nearest("serving.knative.dev/v1", "Service", f.Request.Service, "spec", "traffic", i, "revisionName")
	if depth == ofList {
		return f.inKustomization("patches"), true
	}
	return at, false
}

// nearest is where, and how many of the keys are there.
func (f Facts) nearest(apiVersion, kind, name string, keys ...any) (best place, depth int) {
	docs := f.once().of(apiVersion, kind, name)
	best, depth = f.inKustomization(), -1
	for _, doc := range docs {
		if node, found := descend(doc.root, keys); found > depth {
			best, depth = place{doc.file, node.Line}, found
		}
	}
	return best, depth
}

// inKustomization finds the line of a field of the overlay's kustomization,
// such as "images", 0.
func (f Facts) inKustomization(keys ...any) place {
	if f.Overlay == nil {
		return place{}
	}
	file, docs := f.once().kustomization, f.once().entries
	if len(docs) == 0 {
		return place{File: file}
	}
	node, found := descend(docs[0].root, keys)
	if found == 0 {
		return place{File: file}
	}
	return place{file, node.Line}
}

// descend follows keys as far as they lead. It returns where that is, for a
// mapping's value its key, and how many keys were found.
func descend(node *yaml.Node, keys []any) (at *yaml.Node, found int) {
	at = node
	for _, key := range keys {
		switch key := key.(type) {
		case string:
			name, value := entry(node, key)
			if value == nil {
				return at, found
			}
			at, node = name, value
		case int:
			if node.Kind != yaml.SequenceNode || key >= len(node.Content) {
				return at, found
			}
			node = node.Content[key]
			at = node
		}
		found++
	}
	return at, found
}

// entry is a mapping's key and value, nil where there is none.
func entry(mapping *yaml.Node, key string) (name, value *yaml.Node) {
	if mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// text is the scalar at keys, empty where there is none.
func text(node *yaml.Node, keys ...string) string {
	for _, key := range keys {
		if _, node = entry(node, key); node == nil {
			return ""
		}
	}
	return node.Value
}
