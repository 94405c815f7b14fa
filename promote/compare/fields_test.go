package compare

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"testing"
)

var seeded = reader{seed: maphash.MakeSeed()}

// differing are the paths at which two texts differ.
func differing(r reader, a, b string) string {
	one, other := r.fields([]byte(a)), r.fields([]byte(b))
	paths := map[string]bool{}
	for path := range one {
		paths[path] = one[path] != other[path]
	}
	for path := range other {
		paths[path] = one[path] != other[path]
	}
	maps.DeleteFunc(paths, func(_ string, differs bool) bool { return !differs })
	return strings.Join(slices.Sorted(maps.Keys(paths)), " ")
}

func TestFields(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ a, b, want string }{
		{`{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`, ""},
		{`{"a":"é"}`, `{"a":"\u00e9"}`, ""},
		{`{"a":1}`, `{"a":1.0}`, "a"},
		{`{"a":1}`, `{"a":"1"}`, "a"},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, "a"},
		{`{"a":null}`, `{}`, "a"},
		{`{"a":null}`, `{"a":"null"}`, "a"},
		{`{"a":false}`, `{"a":"false"}`, "a"},
		{`{"a":{}}`, `{"a":[]}`, "a"},
		{`{"a":1}`, `{"a":1,"a":1}`, "a"},
		{`{"a":2,"a":1}`, `{"a":1}`, "a"},
		{`[1,2]`, `[2,1]`, "[]"},
		{`[1]`, `[1,1]`, "[]"},
		{`{"a":[]}`, `{"a":[1]}`, "a[]"},
		{`{"a":[{"b":1},{}]}`, `{"a":[{},{"b":1}]}`, "a[].b"},
		{`{"a":[{"b":1,"c":2}]}`, `{"a":[{"c":3,"b":1}]}`, "a[].c"},
		{`[[1],[2]]`, `[[1,2],[]]`, "[][]"},
		{`1`, `2`, "the body"},
		{`1`, `{`, "the body"},
		{`{}`, ``, "the body"},
		{`{"a.b":1}`, `{"a":{"b":1}}`, `["a.b"] a a.b`},
		{`{"":1}`, `{}`, `[""]`},
		{`{"[]":1}`, `[1]`, `["[]"] [] the body`},
		{`{"the body":1}`, `{"the body":2}`, `["the\x20body"]`},
		{"{\"`x`, \\n\":{\"y\":1}}", `{}`, `["\x60x\x60\x2c\x20\n"] ["\x60x\x60\x2c\x20\n"].y`},
	} {
		if got := differing(seeded, test.a, test.b); got != test.want {
			t.Errorf("%s and %s differ in %q, want %q", test.a, test.b, got, test.want)
		}
	}
}

func TestIgnoredFields(t *testing.T) {
	t.Parallel()
	const a, b = `{"at":1,"items":[{"id":1,"name":"x","at":1}],"a.b":1}`, `{"at":2,"items":[{"id":{"x":2},"name":"y","at":2}],"a.b":2}`
	for ignored, want := range map[string]string{
		"none":                `["a.b"] at items[].at items[].id items[].id.x items[].name`,
		"at":                  `["a.b"] items[].at items[].id items[].id.x items[].name`,
		"items[].id":          `["a.b"] at items[].at items[].name`,
		"items[]":             `["a.b"] at`,
		`items,["a.b"]`:       `at`,
		"item,items[].i,ites": `["a.b"] at items[].at items[].id items[].id.x items[].name`,
	} {
		r := reader{seeded.seed, strings.Split(ignored, ",")}
		if got := differing(r, a, b); got != want {
			t.Errorf("without %s they differ in %s, want %s", ignored, got, want)
		}
	}
}

// TestBounds has JSON that is large in each of the ways in which it can be.
func TestBounds(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&many, `,"k%d":%d`, i, i)
	}
	deep := func(end string) string {
		return strings.Repeat(`{"`+strings.Repeat("n", 90)+`":[`, 4000) + end + strings.Repeat("]}", 4000)
	}
	for name, test := range map[string]struct{ a, b string }{
		"many fields":    {`{"a":1` + many.String() + `,"z":1}`, `{"a":1` + many.String() + `,"z":2}`},
		"deep":           {deep("1"), deep("2")},
		"a long array":   {"[" + strings.Repeat("0,", 400_000) + "1]", "[" + strings.Repeat("0,", 400_000) + "2]"},
		"too deep":       {strings.Repeat("[", 500_000), "1"},
		"a long name":    {`{"` + strings.Repeat("n", 1_000_000) + `a":1}`, `{"` + strings.Repeat("n", 1_000_000) + `b":1}`},
		"a long content": {`"` + strings.Repeat("n", 1_000_000) + `a"`, `"` + strings.Repeat("n", 1_000_000) + `b"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := 0
			for path := range seeded.fields([]byte(test.a)) {
				kept += len(path)
			}
			if differing(seeded, test.a, test.b) == "" || kept > 100_000 {
				t.Errorf("no difference is seen, or %d bytes are kept", kept)
			}
		})
	}
}

// TestTalliesAreBounded has other names in each answer.
func TestTalliesAreBounded(t *testing.T) {
	t.Parallel()
	c := compared(t, "/ json count=200", func(i int) Round {
		body := func(n int) Answer {
			var b strings.Builder
			for j := range 50 {
				fmt.Fprintf(&b, `,"%d":1`, 1000*(3*i+n)+j)
			}
			return ok(`{"a":1` + b.String() + `}`)
		}
		return Round{body(0), body(1), body(2)}
	})
	if got := Judge([]*Comparison{c}); len(c.fields) > mostTallies || got.State != Same {
		t.Errorf("%d fields, %s", len(c.fields), got.State)
	}
}

// FuzzFields checks that a text equals itself, that what is kept is bounded, and
// that no path can break out of the line that it is shown in.
func FuzzFields(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":null}],"":"x"}`, "[[]]", "1e999", `{"a":1,"a":2}`, "{\"\\u0000`\":0}", "no"} {
		f.Add(text, `{"a":1}`)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if got := differing(seeded, a, a); got != "" {
			t.Errorf("differs from itself in %s", got)
		}
		if one, other := differing(seeded, a, b), differing(seeded, b, a); one != other {
			t.Errorf("differs in %s, and the other way in %s", one, other)
		}
		fields := seeded.fields([]byte(a))
		if len(fields) == 0 || len(fields) > mostFields+1 {
			t.Errorf("%d fields", len(fields))
		}
		for path := range fields {
			if strings.ContainsAny(path, "\n\r`") || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r > '~' }) ||
				len(path) > (deepest+1)*(6*longestName+8) {
				t.Errorf("path %q", path)
			}
			if strings.Contains(path, ",") || strings.Contains(path, " ") && path != whole && path != further {
				t.Errorf("path %q is no word", path)
			}
		}
	})
}
