package knative

import "testing"

// TestHides has changes with and without the tool's own files.
func TestHides(t *testing.T) {
	t.Parallel()
	const probe = "probe: {exec: [sh, evil]}"
	object := func(name, fields string) string {
		if fields == "" {
			return ""
		}
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {" + fields + "}\n"
	}
	of := func(before, after string) Change {
		return Change{[]byte(object("a", before)), []byte(object("a", after))}
	}
	for name, test := range map[string]struct {
		shown, plain Change
		want         bool
	}{
		"nothing changes":            {of("a: b, probe: default", "a: b, probe: default"), of("a: b", "a: b"), false},
		"nothing is shown":           {of("probe: default", "probe: default"), of("a: b", probe), true},
		"beside what is shown":       {of("a: b, probe: default", "a: c, probe: default"), of("a: b", "a: c, "+probe), true},
		"all is shown":               {of("a: b, name: x", "a: c, name: x"), of("a: b", "a: c"), false},
		"shown in a list":            {of("l: [{a: b, name: x}]", "l: [{a: c, name: x}]"), of("l: [{a: b}]", "l: [{a: c}]"), false},
		"hidden in a list":           {of("l: [{a: b, name: x}]", "l: [{a: b, name: x}]"), of("l: [{a: b}]", "l: [{a: b, "+probe+"}]"), true},
		"from another value":         {of("a: default", "a: c"), of("a: b", "a: c"), true},
		"to another value":           {of("a: b", "a: c"), of("a: b", "a: d"), true},
		"the same elsewhere":         {of("a: {}, b: {}, probe: x", "a: {"+probe+"}, b: {}, probe: x"), of("a: {}, b: {}", "a: {"+probe+"}, b: {"+probe+"}"), true},
		"a text of the same lines":   {of("a: x", "a: \"probe:\\n  exec: [sh, evil]\\n\""), of("a: x", "a: \"probe:\\n  exec: [sh, evil]\\n\", "+probe), true},
		"taken away":                 {of("a: b, probe: x", "a: b, probe: x"), of("a: b, "+probe, "a: b"), true},
		"a new object":               {of("", "a: b"), of("", "a: b"), false},
		"hidden in a new object":     {of("", "a: b"), of("", "a: b, "+probe), true},
		"an object that goes":        {of("a: b", ""), of("a: b", ""), false},
		"an object that stays shown": {of("a: b", "a: b"), of("a: b", ""), true},
	} {
		if got, err := Hides(test.shown, test.plain); got != test.want || err != nil {
			t.Errorf("%s: %t, %v, want %t", name, got, err, test.want)
		}
	}
}
