package manifest

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// lastApplied holds a copy of the whole object, secrets included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Names of values that are secret: parts anywhere in the name, and words that
// count only when they stand alone, such as PASS in DB_PASS but not in BYPASS.
var (
	secretParts = []string{"password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "privatekey", "accesskey"}
	secretWords = []string{"pass", "pwd", "key", "keys", "cred", "creds", "dsn", "auth", "authorization", "jwt", "pat", "salt", "cookie", "signature"}

	// Last words of names such as AUTH_MODE, whose values are no secrets, and say who is let in.
	aboutSecret = []string{"mode", "type", "enabled", "enable", "disabled", "required", "method", "provider", "url", "uri", "server", "host", "port", "endpoint", "scheme", "domain", "issuer", "audience"}

	// Last words of names such as --password-command or auth.image, whose values run, or are where something is from.
	neverSecret = []string{"command", "cmd", "eval", "exec", "handler", "helper", "hook", "host", "hostname", "image", "path", "plugin", "process", "program", "registry", "repository", "script", "sh", "tag"}

	// Fields of Kubernetes with such a name that only refer to a secret.
	harmless = []string{"key", "topologykey", "secretname", "secretkey", "credentialname", "tokenexpirationseconds"}
)

// redact hides the secrets below node and drops comments and styles.
func (v *vault) redact(node *yaml.Node) {
	clean(node)
	switch node.Kind {
	case yaml.MappingNode:
		v.redactMapping(node)
	case yaml.SequenceNode:
		v.redactList(node)
	case yaml.ScalarNode:
		if v.runs[node] {
			v.set(node, v.redactSettings(v.redactWords(node.Value)))
		} else if shown, done := v.hideManifest(node.Value); done {
			v.set(node, shown)
		} else {
			v.set(node, v.redactText(node.Value))
		}
	case yaml.DocumentNode:
		for _, child := range node.Content {
			v.redact(child)
		}
	}
}

// clean drops a node's comments and its style.
func clean(node *yaml.Node) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	node.Style = 0
}

func (v *vault) redactMapping(node *yaml.Node) {
	kind := scalar(field(node, "kind"))
	named := secretName(scalar(field(node, "name"))) || secretName(scalar(field(node, "key")))
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		key.HeadComment, key.LineComment, key.FootComment = "", "", ""
		switch name := strings.ToLower(key.Value); {
		case strings.EqualFold(kind, "Secret") && slices.Contains([]string{"data", "stringdata", "binarydata"}, name),
			name == "encrypteddata", name == lastApplied,
			name == "value" && named:
			v.hideAll(value)
		case secretName(key.Value) && !slices.Contains(harmless, name) && !program(key.Value, value):
			v.hideOwn(value)
		}
		switch name := strings.ToLower(key.Value); {
		case name == "image" && value.Kind == yaml.ScalarNode:
			clean(value)
			continue
		case name == "command" || name == "args":
			v.show(value)
		case value.Kind == yaml.ScalarNode && !v.runs[value] && !mayBeManifest(name, value.Value):
			clean(value)
			v.set(value, v.redactText(value.Value))
			continue
		}
		v.redact(value)
	}
}

// redactList hides what stands in a list after a flag with a secret name:
// [--password, hunter2].
func (v *vault) redactList(node *yaml.Node) {
	for i, item := range node.Content {
		if i > 0 && item.Kind == yaml.ScalarNode && flagOfSecret(scalar(node.Content[i-1])) && !shell.MatchString(item.Value) {
			v.hideAll(item)
		}
		if item.Kind == yaml.ScalarNode && !v.runs[item] && !mayBeManifest("", item.Value) {
			clean(item)
			v.set(item, v.redactText(item.Value))
			continue
		}
		v.redact(item)
	}
}

func flagOfSecret(argument string) bool {
	return strings.HasPrefix(argument, "-") && !strings.ContainsAny(argument, "= ") && secretName(argument)
}

// hideOwn hides the scalar or the list of scalars of a field with a secret
// name. What else such a field holds, as secretKeyRef does, has names of its own.
func (v *vault) hideOwn(node *yaml.Node) {
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Tag != "!!bool" && node.Tag != "!!null" {
			v.hideScalar(node)
		}
	case yaml.SequenceNode:
		if !first(v.own, node) {
			return
		}
		for _, item := range node.Content {
			if item.Kind == yaml.ScalarNode {
				v.hideScalar(item)
			}
		}
	case yaml.AliasNode:
		v.hideOwn(node.Alias)
	}
}

// program tells whether a field is a file that may be run, as that of a ConfigMap: it is called as a file and has several lines, or it has
// words and what makes commands of them. Of one that is the secrets alone are hidden.
func program(name string, value *yaml.Node) bool {
	text := strings.TrimSpace(value.Value)
	return strings.Contains(name, ".") && strings.Contains(text, "\n") || strings.ContainsAny(text, " \t") && shell.MatchString(text)
}

// hideAll hides every scalar below node.
func (v *vault) hideAll(node *yaml.Node) {
	if !first(v.hidden, node) {
		return
	}
	switch node.Kind {
	case yaml.ScalarNode:
		v.hideScalar(node)
	case yaml.SequenceNode:
		for _, item := range node.Content {
			v.hideAll(item)
		}
	case yaml.MappingNode:
		for i := 1; i < len(node.Content); i += 2 {
			v.hideAll(node.Content[i])
		}
	case yaml.AliasNode:
		if !v.runs[node.Alias] { // what runs is shown, whoever names it
			v.hideAll(node.Alias)
		}
	}
}

// hideScalar hides a value: "1" and 1 are different ones.
func (v *vault) hideScalar(node *yaml.Node) {
	secret := node.Value
	if tag := node.ShortTag(); tag != "!!str" {
		secret = tag + " " + secret
	}
	v.set(node, v.hide(secret))
}

// first notes a node, and reports whether it is new.
func first(noted map[*yaml.Node]bool, node *yaml.Node) bool {
	was := noted[node]
	noted[node] = true
	return !was
}

func (v *vault) set(node *yaml.Node, value string) {
	if value != node.Value {
		node.Value, node.Tag, node.Style = value, "!!str", 0
	}
}

// secretName reports whether a value of this name is likely a secret.
func secretName(name string) bool {
	all := words(name)
	if len(all) > 1 && slices.Contains(neverSecret, all[len(all)-1]) {
		return false
	}
	if len(all) > 1 && slices.Contains(aboutSecret, all[len(all)-1]) && !secretPart(name) {
		return false
	}
	return namesSecret(name)
}

// namesSecret reports whether a text has the name of a secret in it.
func namesSecret(text string) bool {
	if secretPart(text) || slices.ContainsFunc(words(text), func(word string) bool { return slices.Contains(secretWords, word) }) {
		return true
	}
	joined := strings.Map(joint, text)
	return strings.HasSuffix(joined, "pwd") || strings.HasSuffix(joined, "dsn") ||
		strings.HasSuffix(joined, "pass") && !strings.HasSuffix(joined, "bypass")
}

// secretPart reports whether a part of a name makes it a secret's, whatever else is in it.
func secretPart(name string) bool {
	joined := strings.Map(joint, name)
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(joined, part) })
}

// joint drops what separates words, so that API_KEY and apiKey are one.
func joint(r rune) rune {
	if r == '-' || r == '_' || r == '.' {
		return -1
	}
	return unicode.ToLower(r)
}

// words splits DB_PASS, db-pass and dbPass into words in lower case.
func words(name string) []string {
	var b strings.Builder
	previous := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(previous) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		previous = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
