package jsonpath_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/analysis/jsonpath"
)

// TestCheck holds which paths may be asked.
func TestCheck(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"":                               "",
		"{$}":                            "",
		"{$.data.ok}":                    "",
		"{.data['a.b'].ok}":              "",
		"{$.results[0].value}":           "",
		"{.results[-1:].value}":          "",
		"{.items[*].metrics[*].v}":       "",
		"{..x}":                          "",
		`{.a[?(@.name=="x")].value}`:     "",
		`{.a[?(@.name=="x")].b[?(@.c)]}`: "",
		"{.a['b','c','d']}":              "",
		"{range .items[*]}{.v}{end}":     "",
		"{..[*]..[*]}":                   "has .. 2 times, expected at most 1",
		"{..[*]..[*]..[*]}":              "has .. 3 times, expected at most 1",
		"{..a[?(@..b)]}":                 "has .. 2 times, expected at most 1",
		"{.a[?(@.b==@..c)]}{..d}":        "has .. 2 times, expected at most 1",
		strings.Repeat("{.a[*]}", 9):     "has [*], [a:b], [?()] or an entry of [a,b] 9 times, expected at most 8",
		"{['a','a','a']['a','a','a','a','a','a']}": "has [*], [a:b], [?()] or an entry of [a,b] 9 times, expected at most 8",
		"{[0:]" + strings.Repeat("[1:]", 8) + "}":  "has [*], [a:b], [?()] or an entry of [a,b] 9 times, expected at most 8",
		"{range .a}{range .b}{.c}":                 "has {range} 2 times, expected at most 1",
		strings.Repeat("{.a}", 9):                  "has {…} or a text 9 times, expected at most 8",
		"{" + strings.Repeat(".a", 50) + "}":       "has a step 52 times, expected at most 50",
		"{" + strings.Repeat(".a", 500) + "}":      "has 1002 bytes, expected at most 1000",
		"{.a":                                      "unclosed action",
	} {
		got := ""
		if err := jsonpath.Check(path); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.60s: got %q, expected %q", path, got, want)
		}
	}
}

// TestFindIsBounded has answers and paths that multiply each other as far as both may.
func TestFindIsBounded(t *testing.T) {
	most := 256 << 10 // bytes of an answer
	towers := strings.Repeat("["+strings.Repeat("[", 62)+"1"+strings.Repeat("]", 62)+"],", most/127)
	for name, test := range map[string]struct{ path, answer string }{
		"towers":               {"{..x}", "[" + towers + "1]"},
		"towers and all below": {"{..[*][*][*][*][*][*][*][*]}", "[" + towers + "1]"},
		"towers by the range":  {"{range ..}{[*]}{[*]}{[*]}{[*]}{[*]}{[*]}", "[" + towers + "1]"},
		"the same again":       {"{..[0:,0:][0:,0:]}", "[" + towers + "[1]]"},
		"the first again":      {"{..[0,0][0,0][0,0][0,0]}", "[" + towers + "[1]]"},
		"filters":              {"{..[?(@[0])]}", "[" + strings.TrimSuffix(towers, ",") + "]"},
		"filters of a tower":   {"{..[?(@.x)]}", strings.Repeat("[", 63) + strings.Repeat("{},", most/4) + "{}" + strings.Repeat("]", 63)},
		"many values":          {"{[*]}{[*]}{[*]}{[*]}{[*]}{[*]}{[*]}{[*]}", "[" + strings.Repeat("1,", most/2-1) + "1]"},
		"a long text":          {"{..[*][*]}", `["` + strings.Repeat("x", most-4) + `"]`},
	} {
		var data any
		if err := json.Unmarshal([]byte(test.answer), &data); err != nil {
			t.Fatal(name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := jsonpath.Find(t.Context(), test.path, data)
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
		if allocated > 512 {
			t.Errorf("%s: allocated %d MiB, then %v", name, allocated, err)
		}
	}
}

// TestFind holds what is no value, and that nothing is looked for once the context is over.
func TestFind(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancelCause(t.Context())
	end(errors.New("no answer in 2s"))
	for _, test := range []struct {
		ctx                context.Context
		path, answer, want string
	}{
		{t.Context(), "{.a[0].b}", `{"a": [{"b": 1}, {"b": 2}]}`, "1 <nil>"},
		{t.Context(), "{..b}", `{"a": [{"b": 1}, {"b": 2}]}`, "1 <nil>"},
		{t.Context(), "{..b}", nested(64, `{"b": 1}`), "<nil> it nests values 65 deep, and .. goes through at most 64: name the way to the value"},
		{t.Context(), "{[0]}", nested(2_000, "1"), fmt.Sprint(inside(1_999)) + " <nil>"},
		{t.Context(), "{range [*]}{[0]}{end}", "[]", "<nil> it cannot be looked for in this answer"},
		{t.Context(), "{$}", "null", "<nil> it is null"},
		{t.Context(), "{..a..a}", "{}", "<nil> has .. 2 times, expected at most 1"},
		{over, "{.a}", `{"a": 1}`, "<nil> no answer in 2s"},
	} {
		var data any
		if err := json.Unmarshal([]byte(test.answer), &data); err != nil {
			t.Fatal(err)
		}
		value, err := jsonpath.Find(test.ctx, test.path, data)
		if got := fmt.Sprint(value, " ", err); got != test.want {
			t.Errorf("%s in %.40s: got %.100s, expected %.100s", test.path, test.answer, got, test.want)
		}
	}
}

// nested is a text in so many lists.
func nested(levels int, text string) string {
	return strings.Repeat("[", levels) + text + strings.Repeat("]", levels)
}

// inside is the value of that, with 1 in it.
func inside(levels int) any {
	var value any = 1.0
	for range levels {
		value = []any{value}
	}
	return value
}
