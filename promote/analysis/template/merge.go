package template

import (
	"fmt"
	"slices"
)

// Merged is what several templates ask for together: one run measures all of it,
// as with the templates of one AnalysisRun.
type Merged struct {
	from      []string // the templates
	metrics   []located[metric]
	args      []located[argument]
	dryRun    []located[rule]
	retention []located[rule]
}

// located is a part of a template and where it stands.
type located[T any] struct {
	at    string
	value T
}

// Merge puts templates together with those that they name in their own templates,
// which are looked for among all. A template that is named several times counts
// once.
func Merge(templates, all []Template) (Merged, []error) {
	unique, wrong := withNested(templates, all)
	var m Merged
	for _, t := range unique {
		m.from = append(m.from, t.at())
		m.metrics = append(m.metrics, locate(t, "metrics", t.spec.Metrics)...)
		m.dryRun = append(m.dryRun, locate(t, "dryRun", t.spec.DryRun)...)
		m.retention = append(m.retention, locate(t, "measurementRetention", t.spec.MeasurementRetention)...)
		for _, arg := range locate(t, "args", t.spec.Args) {
			if err := m.declare(arg); err != nil {
				wrong = append(wrong, err)
			}
		}
	}
	wrong = append(wrong, twice(m.dryRun)...)
	wrong = append(wrong, twice(m.retention)...)
	return m, wrong
}

// withNested are the templates and those that they name, each once.
func withNested(templates, all []Template) ([]Template, []error) {
	var unique []Template
	var wrong []error
	for queue := slices.Clone(templates); len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		if slices.ContainsFunc(unique, func(u Template) bool { return u.id() == t.id() }) {
			continue
		}
		unique = append(unique, t)
		for i, ref := range t.spec.Templates {
			kind := namespaced
			if ref.ClusterScope {
				kind = cluster
			}
			at := slices.IndexFunc(all, func(o Template) bool { return o.Kind == kind && o.Name == ref.TemplateName })
			if at < 0 {
				wrong = append(wrong, fmt.Errorf("%s: templates[%d]: there is no %s %q in the files of the input analysis: name its file there too", t.at(), i, kind, ref.TemplateName))
				continue
			}
			queue = append(queue, all[at])
		}
	}
	return unique, wrong
}

// Twice says which templates are there more than once. They would be
// measured under the same name.
func Twice(all []Template) []error {
	var wrong []error
	for i, t := range all {
		before := slices.IndexFunc(all[:i], func(o Template) bool { return o.id() == t.id() })
		if before >= 0 {
			wrong = append(wrong, fmt.Errorf("%s: is there twice, the first is in %s: expected it once", t.at(), all[before].File))
		}
	}
	return wrong
}

func (t Template) id() string { return t.Kind + "/" + t.Name }
func (t Template) at() string { return fmt.Sprintf("%s: %s %s", t.File, t.Kind, t.Name) }

func locate[T any](t Template, field string, values []T) []located[T] {
	var all []located[T]
	for i, v := range values {
		all = append(all, located[T]{fmt.Sprintf("%s: %s[%d]", t.at(), field, i), v})
	}
	return all
}

// declare adds an argument, or what another template says of the same one.
func (m *Merged) declare(arg located[argument]) error {
	i := slices.IndexFunc(m.args, func(a located[argument]) bool { return a.value.Name == arg.value.Name })
	if i < 0 {
		m.args = append(m.args, arg)
		return nil
	}
	had, now := m.args[i].value, arg.value
	switch {
	case had.Value != nil && now.Value != nil && *had.Value != *now.Value:
		return fmt.Errorf("%s: %s has the value %q, but %q at %s: expected the same", arg.at, now.Name, *now.Value, *had.Value, m.args[i].at)
	case had.Value == nil && had.ValueFrom == nil, had.Value == nil && now.Value != nil:
		m.args[i] = arg
	}
	return nil
}

// twice says which rules are there more than once.
func twice(rules []located[rule]) []error {
	var wrong []error
	seen := map[string]string{}
	for _, r := range rules {
		if at, again := seen[r.value.MetricName]; again {
			wrong = append(wrong, fmt.Errorf("%s: metricName: %q is there already, at %s: expected each once", r.at, r.value.MetricName, at))
			continue
		}
		seen[r.value.MetricName] = r.at
	}
	return wrong
}
