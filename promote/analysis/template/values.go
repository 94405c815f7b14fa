package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Values are what the arguments of templates can be.
type Values struct {
	// Known are those that a promotion knows itself, such as service and revision.
	// They are for declared arguments without a value.
	Known map[string]string
	// Own are the user's. They come before a template's own values.
	Own map[string]string
	// Secrets are what secretKeyRef may name, by name/key.
	Secrets map[string]string
	// Prometheus is the address for queries that name none.
	Prometheus string
}

// Undeclared says which of the user's arguments no template declares.
func (v Values) Undeclared(all []Template) []error {
	var declared []string
	for _, t := range all {
		for _, arg := range t.spec.Args {
			declared = append(declared, arg.Name)
		}
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(v.Own)) {
		if !slices.Contains(declared, name) {
			wrong = append(wrong, fmt.Errorf("input analysis-args: %s: no template declares it in spec.args; declared are: %s", name, list(declared)))
		}
	}
	return wrong
}

// list is the names in their order, each once.
func list(names []string) string {
	names = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// given are the values of the declared arguments, and those among them that are
// secrets.
type given struct {
	all, secret map[string]string
}

func (m Merged) given(v Values) (given, []error) {
	g := given{map[string]string{}, map[string]string{}}
	var wrong []error
	for _, arg := range m.args {
		text, secret, err := v.of(arg.value)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", arg.at, err))
			continue
		}
		g.all[arg.value.Name] = text
		if secret {
			g.secret[arg.value.Name] = text
		}
	}
	return g, wrong
}

// shown says which secrets stand in what a run shows of a metric, or quotes in an
// error of which they are a part.
func (g given) shown(m metric) []error {
	visible := m
	visible.Provider = provider{}
	if m.Provider.Web != nil {
		visible.Provider.Web = &Web{JSONPath: m.Provider.Web.JSONPath}
	}
	if m.Provider.Prometheus != nil {
		visible.Provider.Prometheus = &Prometheus{RangeQuery: m.Provider.Prometheus.RangeQuery}
	}
	_, tags, _ := substitute(visible, nil)
	var wrong []error
	for _, tag := range tags {
		name, _ := strings.CutPrefix(strings.TrimSpace(tag), "args.")
		if _, secret := g.secret[name]; secret {
			wrong = append(wrong, fmt.Errorf("{{%s}}: is a secret and would be shown here: expected it in the provider alone, in an address, a query, a header, a body or the authentication", tag))
		}
	}
	return wrong
}

// of is the value of one argument, and whether it is a secret.
func (v Values) of(arg argument) (text string, secret bool, err error) {
	own, isOwn := v.Own[arg.Name]
	known, isKnown := v.Known[arg.Name]
	switch {
	case arg.Name == "":
		return "", false, fmt.Errorf("name: expected a name")
	case arg.ValueFrom != nil && arg.ValueFrom.SecretKeyRef != nil:
		ref := arg.ValueFrom.SecretKeyRef
		name := ref.Name + "/" + ref.Key
		value, ok := v.Secrets[name]
		if isOwn {
			return "", false, fmt.Errorf("%s: comes from a secret: give it in the input analysis-secrets (%s=…), not in analysis-args", arg.Name, name)
		}
		if !ok || value == "" {
			return "", false, fmt.Errorf("%s: the secret %s is not there: give it in the input analysis-secrets (%s=…)", arg.Name, name, name)
		}
		return value, true, nil
	case isOwn:
		return own, false, nil
	case arg.Value != nil:
		return string(*arg.Value), false, nil
	case arg.ValueFrom != nil:
		return "", false, fmt.Errorf("%s: valueFrom: a field of a Rollout cannot be read, as there is none: give the value in the input analysis-args (%s=…), or declare one of %s without a value", arg.Name, arg.Name, list(slices.Collect(maps.Keys(v.Known))))
	case isKnown && known != "":
		return known, false, nil
	case isKnown:
		return "", false, fmt.Errorf("%s: has no value at this step: give it in the input analysis-args (%s=…)", arg.Name, arg.Name)
	}
	return "", false, fmt.Errorf("%s: has no value: give it in the input analysis-args (%s=…) or in the template; known without that are %s", arg.Name, arg.Name, list(slices.Collect(maps.Keys(v.Known))))
}

// substitute replaces each {{args.NAME}} in all texts of a metric, and says which
// tags it cannot replace. The values go into JSON in Go's quotes, as in Argo
// Rollouts: https://github.com/argoproj/argo-rollouts/blob/v1.8.5/utils/template/template.go.
func substitute(m metric, values map[string]string) (resolved metric, unknown []string, err error) {
	text, err := json.Marshal(m)
	if err != nil {
		return metric{}, nil, err
	}
	var out strings.Builder
	rest := string(text)
	for {
		before, after, found := strings.Cut(rest, "{{")
		out.WriteString(before)
		if !found {
			break
		}
		tag, behind, _ := strings.Cut(after, "}}")
		name, isArgument := strings.CutPrefix(strings.TrimSpace(tag), "args.")
		value, known := values[name]
		if !isArgument || !known {
			unknown = append(unknown, tag)
		}
		quoted := strconv.Quote(value)
		out.WriteString(quoted[1 : len(quoted)-1])
		rest = behind
	}
	if unknown != nil {
		return metric{}, unknown, nil
	}
	if err := json.Unmarshal([]byte(out.String()), &resolved); err != nil {
		return metric{}, nil, fmt.Errorf("the value of an argument does not fit where it is used: %w", wrongType(err))
	}
	return resolved, nil, nil
}
