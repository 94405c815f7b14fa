package pipeline

import (
	"bytes"
	"encoding/json"
)

// A Value says what an input takes, for people and for editors.
type Value struct {
	Kind  Kind
	Usage string
}

// A Kind is how a value is written in YAML.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Flag
	Number
	List // or one text with commas or lines
)

// object is a part of a JSON schema.
type object map[string]any

// Schema is the JSON schema of the file (https://json-schema.org/draft/2020-12),
// in which about says what an input takes. Parse asks for more than a schema can
// say, such as that from names an environment that stands before.
func Schema(keys Keys, about func(input string) Value) ([]byte, error) {
	environment := object{}
	for _, name := range keys.each() {
		environment[name] = about(name).schema()
	}
	defaults := object{}
	for _, name := range keys.everywhere() {
		defaults[name] = object{"$ref": "#/$defs/environment/properties/" + name}
	}
	environment["from"] = object{"type": []string{"string", "array"}, "minItems": 1, "items": object{"type": "string"}, "description": "the environment that stands before it whose images are promoted here; of several, all must run the same"}
	environment[approval] = object{"enum": []any{true, false, ifKnown}, "description": "somebody must have approved in the workflow run: without, nothing is promoted, and a run over several environments is held before it; if-known: also where nobody can tell"}
	environment[override] = object{"type": "boolean", "description": "a run may override what is said here, with a reason"}

	said := object{"oneOf": []object{{"$ref": "#/$defs/environment"}, {"type": "null"}}}
	root := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": Name, "type": "object",
		"required": []string{"version", "path", "environments"}, "additionalProperties": false,
		"properties": object{
			"version":  object{"const": 1},
			"path":     object{"type": "string", "pattern": `\{environment\}`, "description": "folder of the overlays; {service} and {environment} stand for the names"},
			"defaults": object{"type": "object", "additionalProperties": false, "properties": defaults, "description": "what all environments say that say nothing else"},
			"environments": object{
				"type": "object", "minProperties": 1, "propertyNames": object{"pattern": environmentName.String()}, "additionalProperties": said,
				"description": "the environments, in the order in which images go through them",
			},
			"services": object{
				"type": "object", "propertyNames": object{"pattern": serviceName.String()}, "additionalProperties": object{"type": "object", "additionalProperties": said},
				"description": "what single Services have of their own, by environment",
			},
		},
		"$defs": object{"environment": object{"type": "object", "additionalProperties": false, "properties": environment}},
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(root)
	return b.Bytes(), err
}

func (v Value) schema() object {
	words := []string{"string", "integer"}
	switch v.Kind {
	case Flag:
		return object{"type": "boolean", "description": v.Usage}
	case Number:
		return object{"type": "integer", "description": v.Usage}
	case List:
		return object{"type": append(words, "array"), "minItems": 1, "items": object{"type": words}, "description": v.Usage}
	}
	return object{"type": words, "description": v.Usage}
}
