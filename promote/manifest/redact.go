package manifest

import (
	"regexp"
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

	// Fields of Kubernetes with such a name that only refer to a secret.
	harmless = []string{"key", "topologykey", "secretname", "secretkey", "credentialname", "tokenexpirationseconds"}
)

// secretValues find secrets by their own form, wherever they stand.
var secretValues = []*regexp.Regexp{
	regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|$)`),
	regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/=]+`),                                                  // PEM in base64
	regexp.MustCompile(`eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*`),                        // JWT
	regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|npm_|xox[abeoprs]-)[A-Za-z0-9_-]{10,}`),       // forges and Slack
	regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bsk-[A-Za-z0-9_-]{20,}`), // clouds
	regexp.MustCompile(`ENC\[[^\]]*\]`),                                                                  // SOPS
}

// The texts around a value that may be a secret. Of a row's value and of a bare one of a
// setting they find the start alone: where it is none, the next name may be in it, and a text
// that is one value in another would be read to its end as often as it has names.
var (
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^/?#\s"'@:]*:[^\s"']*|[^/?#\s"']*)@`)
	wholeRow = regexp.MustCompile(`(?m)^[ \t-]*(?:export[ \t]+)?["']?([A-Za-z_][A-Za-z0-9_.-]*)["']?[ \t]*(?:=|:[ \t])[ \t]*([ \t\f\r]*[^\s])`)
	scheme   = regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)([A-Za-z0-9+/=._~-]{16,})`)
	setting  = regexp.MustCompile(`(--?)?([A-Za-z_][A-Za-z0-9_.-]*)(["']?(?:[ \t]*=[ \t]*|:[ \t]+)|["'][ \t]*:[ \t]*|[ \t]+)("[^"]*"|'[^']*'|[^\s"'&;,])`)
)

// redact hides the secrets below node and drops comments and styles.
func (v *vault) redact(node *yaml.Node) {
	node.HeadComment, node.LineComment, node.FootComment = "", "", ""
	node.Style = 0
	switch node.Kind {
	case yaml.MappingNode:
		v.redactMapping(node)
	case yaml.SequenceNode:
		v.redactList(node)
	case yaml.ScalarNode:
		if !v.runs[node] && secretManifest(node.Value) {
			v.set(node, v.hide(node.Value))
			return
		}
		v.set(node, v.redactText(node.Value))
	case yaml.DocumentNode:
		for _, child := range node.Content {
			v.redact(child)
		}
	}
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
		case secretName(key.Value) && !slices.Contains(harmless, name):
			v.hideOwn(value)
		}
		if slices.Contains([]string{"image", "command", "args"}, strings.ToLower(key.Value)) {
			v.show(value)
		}
		v.redact(value)
	}
}

// redactList hides what stands in a list after a flag with a secret name:
// [--password, hunter2].
func (v *vault) redactList(node *yaml.Node) {
	for i, item := range node.Content {
		if i > 0 && item.Kind == yaml.ScalarNode && flagOfSecret(scalar(node.Content[i-1])) {
			v.hideAll(item)
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
		v.hideAll(node.Alias)
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

// redactText hides the secrets inside one text, such as an argument, an
// address or a whole configuration file.
func (v *vault) redactText(text string) string {
	text = v.redactForms(text)
	if !secretName(text) {
		return text // no name in it, the usual case
	}
	text = v.replaceValue(wholeRow, 2, text, endOfRow, func(groups []string) bool { return secretName(groups[1]) })
	return v.replaceValue(setting, 4, text, endOfSetting, func(groups []string) bool {
		separated := strings.TrimSpace(groups[3]) != ""
		return secretName(groups[2]) && (separated || groups[1] != "")
	})
}

// redactForms hides what is a secret by its own form, whatever its name.
func (v *vault) redactForms(text string) string {
	for _, form := range secretValues {
		text = form.ReplaceAllStringFunc(text, v.hide)
	}
	text = v.replaceValue(userinfo, 2, text, nil, nil)
	return v.replaceValue(scheme, 3, text, nil, nil)
}

// replaceValue hides the value, which is a group, of every match that wanted accepts; nil: of
// each. Where end is given the group only begins the value, and end says how long it is.
func (v *vault) replaceValue(form *regexp.Regexp, group int, text string, end func(string) int, wanted func([]string) bool) string {
	var b strings.Builder
	for {
		at := form.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text
		}
		from, to := at[2*group], at[2*group+1]
		b.WriteString(text[:from])
		switch {
		case from == to || wanted != nil && !wanted(groupsOf(text, at)):
			text = text[from:] // what looked like a value may be the next name
			continue
		case end != nil:
			to = from + end(text[from:])
		}
		b.WriteString(v.hide(text[from:to]))
		text = text[to:]
	}
}

// groupsOf are the groups of a match.
func groupsOf(text string, at []int) []string {
	groups := make([]string, len(at)/2)
	for i := range groups {
		if at[2*i] >= 0 {
			groups[i] = text[at[2*i]:at[2*i+1]]
		}
	}
	return groups
}

// endOfRow is how much of a text is before the end of its first row, and the blanks there.
func endOfRow(text string) int {
	row, _, _ := strings.Cut(text, "\n")
	return len(strings.TrimRight(row, " \t\f\r"))
}

// endOfSetting is how long the value is with which a text begins, its quotes among it.
func endOfSetting(text string) int {
	if text[0] == '"' || text[0] == '\'' {
		return len(`""`) + strings.IndexByte(text[1:], text[0])
	}
	if end := strings.IndexAny(text, " \t\n\f\r\"'&;,"); end >= 0 {
		return end
	}
	return len(text)
}

// secretName reports whether a value of this name is likely a secret.
func secretName(name string) bool {
	joined := strings.Map(joint, name)
	contains := func(part string) bool { return strings.Contains(joined, part) }
	if slices.ContainsFunc(secretParts, contains) {
		return true
	}
	if slices.ContainsFunc(words(name), func(word string) bool { return slices.Contains(secretWords, word) }) {
		return true
	}
	return strings.HasSuffix(joined, "pwd") || strings.HasSuffix(joined, "dsn") ||
		strings.HasSuffix(joined, "pass") && !strings.HasSuffix(joined, "bypass")
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
