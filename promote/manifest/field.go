package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Field is one field of an object whose value changes.
type Field struct {
	// Path leads to it, such as spec.template.spec.containers[user-container].image.
	// Items of a list are named where all have a name, else counted from 0.
	// It is empty where the object is no mapping.
	Path string `json:"path"`
	// Before and After are the value as one line of YAML, cut where it is long
	// and with its secrets hidden. One is empty where the field is absent.
	Before string `json:"before"`
	After  string `json:"after"`
}

const (
	maxFields = 30  // of one object
	maxValue  = 200 // bytes of a value
	lead      = 24  // bytes that are shown before the first difference of long values
)

// fields returns the first maxFields fields in which two versions of an object
// differ, and how many more there are.
func (v *vault) fields(before, after *yaml.Node) (found []Field, more int) {
	c := comparison{secrets: v}
	c.compare(before, after)
	return c.fields, c.more
}

// comparison finds the fields in which two objects differ.
type comparison struct {
	secrets *vault
	path    []string // the steps to what is compared; they are joined for what is kept alone, as they may be long
	fields  []Field
	more    int // fields beyond maxFields
}

// compare notes what differs at the path. A node that is nil is absent. An alias
// is what it says, not what it stands for: that is compared where it is written.
func (c *comparison) compare(before, after *yaml.Node) {
	switch {
	case before == nil || after == nil || before.Kind != after.Kind:
		c.note(before, after)
	case before.Kind == yaml.MappingNode:
		c.parts(keys(before), keys(after))
	case before.Kind == yaml.SequenceNode:
		c.lists(before, after)
	case !same(before, after):
		c.note(before, after)
	}
}

// same tells whether two scalars, or two aliases, say the same.
func same(a, b *yaml.Node) bool {
	if a.Kind == yaml.AliasNode {
		return a.Value == b.Value
	}
	tag := a.ShortTag()
	return tag == b.ShortTag() && (a.Value == b.Value || tag == "!!null")
}

// member is one field of a mapping or one item of a list.
type member struct {
	step string // what it adds to the path
	node *yaml.Node
}

// parts compares those of the same step.
func (c *comparison) parts(before, after []member) {
	current := map[string]*yaml.Node{}
	for _, p := range after {
		current[p.step] = p.node
	}
	old := map[string]bool{}
	for _, p := range before {
		old[p.step] = true
		c.part(p.step, p.node, current[p.step])
	}
	for _, p := range after {
		if !old[p.step] {
			c.part(p.step, nil, p.node)
		}
	}
}

func (c *comparison) part(step string, before, after *yaml.Node) {
	c.path = append(c.path, step)
	c.compare(before, after)
	c.path = c.path[:len(c.path)-1]
}

// lists compares items by their names. Where the order changes, which counts
// for environment variables, the names alone would show no difference.
func (c *comparison) lists(before, after *yaml.Node) {
	old, named := byName(before)
	current, alsoNamed := byName(after)
	if named && alsoNamed && slices.Equal(stepsAlsoIn(current, old), stepsAlsoIn(old, current)) {
		c.parts(old, current)
		return
	}
	c.parts(byPlace(before), byPlace(after))
}

// plainKey is a key that needs no brackets in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func keys(node *yaml.Node) []member {
	var found []member
	for i := 0; i+1 < len(node.Content); i += 2 {
		step := "[" + node.Content[i].Value + "]"
		if plainKey.MatchString(node.Content[i].Value) {
			step = "." + node.Content[i].Value
		}
		found = append(found, member{step, node.Content[i+1]})
	}
	return found
}

// byName returns the items of a list and whether each has a name of its own.
func byName(list *yaml.Node) ([]member, bool) {
	var found []member
	seen := map[string]bool{}
	for _, item := range list.Content {
		name := scalar(field(item, "name"))
		if name == "" || seen[name] {
			return nil, false
		}
		seen[name] = true
		found = append(found, member{"[" + name + "]", item})
	}
	return found, true
}

func byPlace(list *yaml.Node) []member {
	var found []member
	for i, item := range list.Content {
		found = append(found, member{fmt.Sprintf("[%d]", i), item})
	}
	return found
}

// stepsAlsoIn returns the steps of parts that others have too.
func stepsAlsoIn(others, parts []member) []string {
	known := map[string]bool{}
	for _, p := range others {
		known[p.step] = true
	}
	var found []string
	for _, p := range parts {
		if known[p.step] {
			found = append(found, p.step)
		}
	}
	return found
}

// note adds the field at the path as readers see it.
func (c *comparison) note(before, after *yaml.Node) {
	if len(c.fields) == maxFields {
		c.more++
		return
	}
	from, to := c.line(before), c.line(after)
	old, current := c.secrets.shown(from, nil), c.secrets.shown(to, nil)
	if before != nil {
		current = c.secrets.shown(to, c.secrets.tokensIn(from))
	}
	if old == current { // only the order of its secrets differs
		current = c.secrets.shown(to, map[string]bool{})
	}
	old, current = fromDifference(old, current)
	path := c.secrets.shown(strings.TrimPrefix(strings.Join(c.path, ""), "."), nil)
	c.fields = append(c.fields, Field{Brief(path, maxName), Brief(old, maxValue), Brief(current, maxValue)})
}

// line writes a value as YAML on one line.
func (c *comparison) line(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	value := *node
	value.Anchor, value.Style = "", yaml.FlowStyle
	switch {
	case value.ShortTag() == "!!null" && value.Value == "":
		value.Value = "null"
	case strings.Contains(value.Value, "\n"):
		value.Style = yaml.DoubleQuotedStyle
	}
	return strings.TrimSuffix(encode(&value, c.secrets), "\n")
}

// fromDifference drops the start that long values share, so that what differs
// is not cut away.
func fromDifference(before, after string) (from, to string) {
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	if max(len(before), len(after)) <= maxValue || same <= 2*lead {
		return before, after
	}
	cut := same - lead
	for before[cut]&0xc0 == 0x80 { // inside a character
		cut--
	}
	return "…" + before[cut:], "…" + after[cut:]
}
