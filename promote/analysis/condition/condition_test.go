package condition_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/analysis/condition"
)

var nan = math.NaN()

// TestJudge is the table of what conditions make of results. The last column is
// what Argo Rollouts 1.8 says, where that is something else.
func TestJudge(t *testing.T) {
	t.Parallel()
	object := map[string]any{"ok": true, "percent": 0.95, "text": "17"}
	for _, test := range []struct {
		success, failure string
		result           any
		want, rollouts   condition.Phase
		reason           string
	}{
		// A value.
		{"result[0] >= 0.95", "", []float64{0.99}, "Successful", "", ""},
		{"result[0] >= 0.95", "", []float64{0.90}, "Failed", "", ""},
		{"", "result[0] > 0.05", []float64{0.10}, "Failed", "", ""},
		{"", "result[0] > 0.05", []float64{0.01}, "Successful", "", ""},
		{"result[0] >= 0.95", "result[0] < 0.90", []float64{0.99}, "Successful", "", ""},
		{"result[0] >= 0.95", "result[0] < 0.90", []float64{0.92}, "Inconclusive", "", ""},
		{"result[0] >= 0.95", "result[0] < 0.90", []float64{0.50}, "Failed", "", ""},
		{"result[0] >= 0.95", "result[0] < 0.99", []float64{0.97}, "Failed", "", ""}, // both hold
		{"", "", []float64{0.1}, "Successful", "", ""},
		{"result > 1", "", 2.0, "Successful", "", ""},
		{"result[0] < 1", "", []float64{0.5, 7}, "Successful", "", ""}, // only the first of two series
		{"all(result, # < 1)", "", []float64{0.5, 7}, "Failed", "", ""},
		{"isInf(result)", "", math.Inf(1), "Successful", "", ""},

		// NaN: no traffic, 0/0.
		{"result[0] >= 0.95", "", []float64{nan}, "NoData", "Failed", nanReason},
		{"", "result[0] > 0.05", []float64{nan}, "NoData", "Successful", nanReason},
		{"result[0] >= 0.95", "result[0] < 0.9", []float64{nan}, "NoData", "Inconclusive", nanReason},
		{"", "", []float64{nan}, "NoData", "Successful", nanReason},
		{"", "result > 0.05", nan, "NoData", "Successful", nanReason},
		{"", "result[0] > 0.05", []float64{0.01, nan}, "NoData", "Successful", nanReason},
		{"isNaN(result[0]) || result[0] >= 0.95", "", []float64{nan}, "Successful", "", ""},
		{"", "isNaN(result[0])", []float64{nan}, "Failed", "", ""},
		{"", "len(result) == 0 || result[0] > 0.05", []float64{nan}, "NoData", "Successful", nanReason},
		{"isNaN(result)", "", []float64{nan}, "Error", "", `successCondition "isNaN(result)": cannot use []float64 as argument (type float64) to call isNaN `},

		// No series.
		{"result[0] >= 0.95", "", []float64{}, "NoData", "Error", emptyReason},
		{"", "result[0] > 0.05", []float64{}, "NoData", "Error", emptyReason},
		{"result[0] >= 0.95", "result[0] < 0.9", []float64{}, "NoData", "Error", emptyReason},
		{"", "", []float64{}, "NoData", "Successful", emptyReason},
		{"all(result, # < 1)", "", []float64{}, "NoData", "Successful", emptyReason},
		{"", "any(result, # > 1)", []float64{}, "NoData", "Successful", emptyReason},
		{"len(result) == 0 || result[0] >= 0.95", "", []float64{}, "Successful", "", ""},
		{"default(result, 0) < 1", "", []float64{}, "Error", "", `successCondition "default(result, 0) < 1": invalid operation: []float64 < int`},

		// What a web answer can be.
		{"result.ok && result.percent >= 0.90", "", object, "Successful", "", ""},
		{"asInt(result.text) == 17 && asFloat(result.text) < 17.5", "", object, "Successful", "", ""},
		{"result == true", "", true, "Successful", "", ""},
		{`result == "I am OK"`, "", "I am OK", "Successful", "", ""},
		{`result == ""`, "", "", "Successful", "", ""},
		{"", `result == "bad"`, "", "NoData", "Successful", emptyReason},
		{"", `result.state == "bad"`, map[string]any{}, "NoData", "Successful", emptyReason},
		{"", "any(result, # > 1)", []any{}, "NoData", "Successful", emptyReason},
		{"", "result == 3", nil, "NoData", "Successful", "the answer has no value"},
		{"isNil(result)", "", nil, "Successful", "", ""},
		{"default(result, 0) < 1", "", nil, "Successful", "", ""},

		// What cannot be evaluated.
		{"result", "", 1.0, "Error", "", `successCondition "result": expected true or false, but it gives a float64`},
		{"", "asInt(result) > 1", "many", "Error", "", `failureCondition "asInt(result) > 1": strconv.ParseInt: parsing "many": invalid syntax`},
		{"asFloat(result) > 1", "", []float64{1}, "Error", "", `successCondition "asFloat(result) > 1": asFloat: expected a number or a text, but there is []float64`},
		{"result >", "", 1.0, "Error", "", `successCondition "result >": unexpected token EOF`},
	} {
		c := condition.Conditions{Success: test.success, Failure: test.failure}
		got := c.Judge(t.Context(), test.result)
		want := condition.Verdict{Phase: test.want, Rollouts: test.rollouts, Reason: test.reason}
		if want.Rollouts == "" {
			want.Rollouts = want.Phase
		}
		if got.Phase == condition.Error {
			got.Reason, _, _ = strings.Cut(got.Reason, " (1:") // the place in the text
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q, %q of %v (-want +got):\n%s", test.success, test.failure, test.result, diff)
		}
	}
}

const (
	nanReason   = "the value is NaN: there were no requests to divide by, or no data"
	emptyReason = "the answer is empty: there is no such series or no data"
)

// TestNoDataNeverPasses asks many conditions of every result that has no data.
func TestNoDataNeverPasses(t *testing.T) {
	t.Parallel()
	results := []any{nil, nan, "", []any{}, map[string]any{}, []float64{}, []float64{nan}, []float64{1, nan}, []float64{nan, 0}}
	texts := []string{
		"", "true", "false", "result == 1", "result != 1", "result == nil", "result > 0", "result[0] > 0", "!(result[0] > 0)",
		"all(result, # < 1)", "any(result, # > 1)", "none(result, # > 1)", "count(result, # > 1) == 0", "sum(result) == 0",
		"result.ok", "result.errors != 3", "isInf(result)", "result in [1, 2]", "(result ?? 0) < 1", "result?.errors == nil",
		"let r = result; true", "filter(result, # > 1) == []", "type(result) != 'int'", "reduce(result, #acc + #, 0) == 0",
	}
	passes := 0
	for _, success := range texts {
		for _, failure := range texts {
			c := condition.Conditions{Success: success, Failure: failure}
			for _, result := range results {
				got := c.Judge(t.Context(), result)
				if got.Phase != condition.NoData {
					t.Errorf("%+v of %v is %s", c, result, got.Phase)
				}
				if got.Rollouts == condition.Successful {
					passes++
				}
			}
		}
	}
	if passes < 100 { // else this shows nothing
		t.Errorf("with Argo Rollouts, %d of these would pass, expected many", passes)
	}
}

// TestCheck finds wrong conditions before there is a result.
func TestCheck(t *testing.T) {
	t.Parallel()
	prometheus := []any{[]float64{}, 0.0}
	for _, test := range []struct {
		conditions condition.Conditions
		samples    []any
		want       []string
	}{
		{condition.Conditions{Success: "result[0] >= 0.95", Failure: "isNaN(result[0])"}, prometheus, nil},
		{condition.Conditions{Success: "result >= 0.95"}, prometheus, nil},
		{condition.Conditions{Success: "all(result, # < 1000)"}, prometheus, nil},
		{condition.Conditions{Success: "result.ok && result.percent > 1"}, nil, nil},
		{condition.Conditions{Success: "default(result, 0) < 1"}, nil, nil},
		{condition.Conditions{Success: "result.ok"}, prometheus, []string{`successCondition: "result.ok": array elements can only be selected using an integer (got string)`}},
		{condition.Conditions{Success: "result[0] >=", Failure: "reslt > 1"}, prometheus, []string{
			`successCondition: "result[0] >=": unexpected token EOF`, `failureCondition: "reslt > 1": unknown name reslt`,
		}},
		{condition.Conditions{Success: "result[0] + 1"}, prometheus, []string{`successCondition: "result[0] + 1": expected bool, but got float64`}},
		{condition.Conditions{Success: "isNan(result)"}, nil, []string{`successCondition: "isNan(result)": unknown name isNan`}},
		{condition.Conditions{Success: "all(result, # >"}, nil, []string{`successCondition: "all(result, # >": unexpected token EOF`}},
	} {
		var got []string
		for _, err := range test.conditions.Check(test.samples...) {
			text, _, _ := strings.Cut(err.Error(), " (1:")
			got = append(got, text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.conditions, diff)
		}
	}
}

// TestHostile has conditions that would take all memory.
func TestHostile(t *testing.T) {
	t.Parallel()
	const tooLong = "it makes too many or too long texts and lists"
	doubled := "let v0 = result; "
	for i := range 60 {
		doubled += fmt.Sprintf("let v%d = v%d + v%d; ", i+1, i, i)
	}
	for _, test := range []struct{ text, want string }{
		{"all(1..1000000000, # > 0)", "memory budget exceeded"},
		{"all(1..50000, all(1..50000, # > 0))", "memory budget exceeded"},
		{"len(repeat(repeat(result, 100000), 100000)) > 1", "unknown name repeat"},
		{`len(reduce(1..60, #acc + #acc, result + "x")) > 1`, tooLong},
		{"len(reduce(1..60, #acc + #acc, [result][0])) > 1", tooLong},
		{"len(map(map(map(1..40, reduce(1..20, #acc + #acc, result)), # + #), # + #)) > 1", tooLong},
		{doubled + "len(v60) > 1", tooLong},
		{"len(string(map(1..40000, result))) > 1", "string: expected a number, a bool or a text, but there is []interface {}"},
		{"let a = replace(result, '', result); let b = replace(a, '', a); len(replace(b, '', b)) > 1", "replace makes a text that is too long"},
		{"len(map(1..40000, replace(result, 'd', result))) > 1", tooLong},
		{"len(map(1..40000, split(result, ''))) > 1", tooLong},
		{"len(map(1..40000, upper(result))) > 1", tooLong},
		{"len(" + strings.Repeat("toBase64(", 90) + "result" + strings.Repeat(")", 90) + ") > 1", tooLong},
		{strings.Repeat("true && ", 1000) + "true", "is 8004 bytes long, expected at most 4096"},
		{strings.Repeat("!", 2000) + "true", "expression exceeds maximum allowed nodes"},
	} {
		got := condition.Conditions{Success: test.text}.Judge(t.Context(), strings.Repeat("data", 50))
		if got.Phase != condition.Error || !strings.Contains(got.Reason, test.want) {
			t.Errorf("%.80q: %+v, expected the error %q", test.text, got, test.want)
		}
	}
}

// TestEndless has a condition that takes hours, and a context that ends.
func TestEndless(t *testing.T) {
	t.Parallel()
	result := make([]any, 100_000)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the time is over"))
	got := condition.Conditions{Success: "all(result, all(result, all(result, # == nil)))"}.Judge(ctx, result)
	if got.Phase != condition.Error || !strings.Contains(got.Reason, "it did not end: the time is over") {
		t.Errorf("got %+v, expected an error", got)
	}
}

// TestTime has times, and expressions that are none or would not end.
func TestTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`now()`:                                       "",
		`now() - duration("5m")`:                      "",
		`date("2026-11-22") + duration("1h")`:         "",
		`now() - max(duration("5m"), duration("1h"))`: "",
		`5`: "expected a time, but it gives a int",
		`let a = 1..300; any(a, any(a, any(a, any(a, any(a, any(a, # > 1000)))))) ? now() : now()`: "it did not end: expected a time without loops",
		`map(1..300, now())[0]`:              "it did not end: expected a time without loops",
		`1..100000000 == [] ? now() : now()`: "memory budget exceeded",
		strings.Repeat("-", 5000) + `now()`:  "is 5005 bytes long, expected at most 4096",
	} {
		_, err := condition.Time(text)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%.60s: got %s, expected %q", text, got, want)
		}
	}
}

// FuzzJudge holds that no condition brings the program down, and that nothing
// without data passes unless it is asked for.
func FuzzJudge(f *testing.F) {
	f.Add("result[0] > 1", "", `[1]`)
	f.Add("", "all(result, # > 1)", `[]`)
	f.Add("result.ok", `result.a.b == ""`, `{"a":{"b":"c"}}`)
	f.Fuzz(func(t *testing.T, success, failure, body string) {
		var result any
		if json.Unmarshal([]byte(body), &result) != nil {
			result = body
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // loops end at once
		c := condition.Conditions{Success: success, Failure: failure}
		_ = c.Check()
		got := c.Judge(ctx, result)
		asks := strings.ContainsAny(success+failure, "'\"`") || strings.Contains(success+failure, "len") || strings.Contains(success+failure, "isNil") || strings.Contains(success+failure, "default")
		if result == nil && got.Phase == condition.Successful && !asks {
			t.Errorf("%+v passes without data", c)
		}
	})
}
