package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/manifest"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	of := func(before, after string) manifest.Difference {
		object := func(text string) []byte {
			return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + text)
		}
		return manifest.Compare(object(before), object(after))
	}
	part := of("  a: b\n", "  a: c\n")
	for name, c := range map[string]struct {
		part   manifest.Difference
		others []manifest.Difference
		want   bool
	}{
		"nothing":       {nil, nil, true},
		"of nobody":     {part, nil, false},
		"of one":        {part, []manifest.Difference{of("  a: b\n  d: e\n", "  a: c\n  d: f\n")}, true},
		"of two":        {of("  a: b\n  d: e\n", "  a: c\n  d: f\n"), []manifest.Difference{part, of("  d: e\n", "  d: f\n")}, false},
		"of none whole": {of("  a: b\n  d: e\n", "  a: c\n  d: f\n"), []manifest.Difference{part}, false},
		"masked":        {part, []manifest.Difference{of("  a: x\n", "  a: y\n")}, false},
		"not changed":   {part, []manifest.Difference{of("  a: b\n  d: e\n", "  a: b\n  d: f\n")}, false},
	} {
		if got := c.part.Within(c.others); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// TestWithinTheSameObject has lines that change alike elsewhere: only those of the same object count, each as often as it
// is there.
func TestWithinTheSameObject(t *testing.T) {
	t.Parallel()
	object := func(kind, name, rest string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {" + name + "}\n" + rest + "---\n"
	}
	of := func(kind, name, before, after string) [2]string {
		return [2]string{object(kind, name, before), object(kind, name, after)}
	}
	compared := func(objects ...[2]string) manifest.Difference {
		var before, after string
		for _, o := range objects {
			before, after = before+o[0], after+o[1]
		}
		return manifest.Compare([]byte(before), []byte(after))
	}
	three, none := "spec:\n  replicas: 3\n", "spec:\n  replicas: 0\n"
	two, zeros := "spec: {a: {n: 3}, b: {n: 3}}\n", "spec: {a: {n: 0}, b: {n: 0}}\n"
	long := strings.Repeat("x", 300)
	subject := func(name, namespace string) string {
		return "subjects:\n- name: " + name + "\n  namespace: " + namespace + "\n"
	}
	subjects := func(before, after string) [2]string { return of("Binding", "name: b", before, after) }
	scaled := of("Deployment", "name: b", three, none)
	still := of("Deployment", "name: b", three, three)
	in := of("Deployment", "name: b, namespace: qa", three, none)
	elsewhere := of("Deployment", "name: b, namespace: kube-system", three, none)
	secret := of("Secret", "name: b", "stringData: {a: x}\n", "stringData: {a: y}\n")
	for name, c := range map[string]struct {
		part, user manifest.Difference
		want       bool
	}{
		"the same":                     {compared(scaled), compared(scaled), true},
		"in a namespace":               {compared(scaled), compared(in), true},
		"in a namespace of its own":    {compared(elsewhere), compared(in), false},
		"added in one of its own":      {compared([2]string{"", elsewhere[1]}), compared([2]string{"", in[1]}), false},
		"in the same of its own":       {compared(in), compared(in), true},
		"of another kind":              {compared(scaled), compared(still, of("Note", "name: b", three, none)), false},
		"of another name":              {compared(scaled), compared(still, of("Deployment", "name: b-note", three, none)), false},
		"of another namespace":         {compared(scaled), compared(still, in), false},
		"in another place":             {compared(of("A", "name: b", "spec: {a: {n: 3}, b: {n: 1}}\n", "spec: {a: {n: 0}, b: {n: 1}}\n")), compared(of("A", "name: b", "spec: {a: {n: 3}, b: {n: 3}}\n", "spec: {a: {n: 3}, b: {n: 0}}\n")), false},
		"twice":                        {compared(of("A", "name: b", two, zeros)), compared(of("A", "name: b", two, zeros)), true},
		"once of two":                  {compared(of("A", "name: b", two, zeros)), compared(of("A", "name: b", two, "spec: {a: {n: 0}, b: {n: 3}}\n")), false},
		"of a secret":                  {compared(secret), compared(secret), false},
		"added":                        {compared([2]string{"", scaled[1]}), compared([2]string{"", in[1]}), true},
		"added for one that goes":      {compared([2]string{"", scaled[1]}), compared([2]string{in[1], ""}), false},
		"more fields than are counted": {compared(of("A", "name: b", many("x"), many("y"))), compared(of("A", "name: b", many("x"), many("y"))), true},
		"more fields, others around":   {compared(of("A", "name: b", many("x"), many("y"))), compared(of("A", "name: b", many("x")+"  b: c\n", many("y")+"  b: c\n")), false},
		"values in another order":      {compared(of("A", "name: b", "x: [{a: 1}]\n", "x: [{a: 1}, {b: 2}]\n")), compared(of("A", "name: b", "x: [{c: 1}]\n", "x: [{c: 1}, {b: 2}]\n")), false},
		"a long list with other order": {compared(of("A", "name: b", "x: 1\n", "x: 1\ny: ["+long+", {n: a, v: 1}, {n: b, v: 2}]\n")), compared(of("A", "name: b", "x: 1\n", "x: 1\ny: ["+long+", {n: a, v: 2}, {n: b, v: 1}]\n")), false},
		"added with other values":      {compared([2]string{"", object("A", "name: b", "y: [{n: a, v: 1}, {n: b, v: 2}]\n")}), compared([2]string{"", object("A", "name: b", "y: [{n: a, v: 2}, {n: b, v: 1}]\n")}), false},
		"the namespace of a subject":   {compared(subjects(subject("a", "x"), subject("b", "evil"))), compared(subjects(subject("a", "y"), subject("b", "y"))), false},
		"a subject of one that comes":  {compared([2]string{"", subjects("", subject("b", "evil"))[1]}), compared([2]string{"", subjects("", subject("b", "y"))[1]}), false},
		"where the user has more":      {compared(scaled), compared(of("Deployment", "name: b", three+"x: 1\n", none+"x: 1\n")), true},
	} {
		if got := c.part.Within([]manifest.Difference{c.user}); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func many(value string) string {
	text := "data:\n"
	for i := range 40 {
		text += fmt.Sprintf("  a%d: %s\n", i, value)
	}
	return text
}
