package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// ok is an answer with a body.
func ok(body string) Answer {
	return Answer{Status: 200, Took: 10 * time.Millisecond, Body: []byte(body)}
}

// compared asks a question as often as it says; round makes the i-th round.
func compared(t *testing.T, line string, round func(i int) Round) *Comparison {
	t.Helper()
	questions, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	c := New(questions[0])
	for i := range questions[0].Count {
		c.Add(round(i))
	}
	return c
}

// always has the same two answers in every round.
func always(old, candidate Answer) func(int) Round {
	return func(int) Round { return Round{old, candidate, old} }
}

// counting has three answers that no other round has.
func counting(form string) func(int) Round {
	return func(i int) Round {
		body := func(n int) Answer { return ok(fmt.Sprintf(form, 3*i+n)) }
		return Round{body(0), body(1), body(2)}
	}
}

// first has the candidate differ in the first rounds alone.
func first(rounds int, old, candidate Answer) func(int) Round {
	return func(i int) Round {
		if i < rounds {
			return Round{old, candidate, old}
		}
		return Round{old, old, old}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const surely = ": the chance that this is chance is less than 1 in a million"
	broken, slow := Answer{Status: 404, Took: time.Millisecond}, Answer{Status: 200, Took: 16 * time.Millisecond}
	for name, test := range map[string]struct {
		line  string
		round func(int) Round
		state State
		want  string
	}{
		"nothing differs":  {"/a", always(ok(""), ok("")), Same, "/a: 60 requests (200 OK), nothing differs"},
		"another status":   {"/a?key=secret", always(ok(""), broken), Differ, "/a?…: of 20 rounds the status differs in 20, 404 Not Found instead of 200 OK" + surely},
		"a better status":  {"/a", always(broken, ok("")), Differ, "/a: of 20 rounds the status differs in 20, 200 OK instead of 404 Not Found" + surely},
		"both as bad":      {"/a", always(broken, broken), Open, "/a: no answer of the old revision is a 2xx, so nobody can tell whether a revision or what is in front of it has answered (404 Not Found): compare what it answers with one"},
		"a repair":         {"/a status,json", always(Answer{Status: 500}, ok("{}")), Same, "/a: the old revision failed all 40 requests, and the candidate none of 20, so there is nothing to compare with"},
		"repaired in part": {"/a", first(15, Answer{Status: 503}, ok("")), Open, "/a: the old revision failed all 40 requests and the candidate 5 of 20, so there is nothing to compare with"},
		"a gateway alone":  {"/a", always(Answer{Status: 500}, Answer{Status: 404}), Open, "/a: the old revision failed all 40 requests and the candidate 0 of 20, so there is nothing to compare with"},
		"no repair":        {"/a", always(Answer{Status: 500}, Answer{Status: 502}), Open, "/a: the old revision failed all 40 requests and the candidate 20 of 20, so there is nothing to compare with"},
		"failures alike":   {"/a", always(Answer{Status: 500}, Answer{Status: 500}), Open, "/a: the old revision failed all 40 requests and the candidate 20 of 20, so there is nothing to compare with"},
		"failures at once": {"/a latency<=1.5x", always(ok(""), Answer{Status: 500}), Differ, "/a: of 20 rounds the status differs in 20, 500 Internal Server Error instead of an answer" + surely},
		"no JSON at once":  {"/a json", always(ok("{}"), Answer{Status: 500, Body: []byte("{}")}), Differ, "/a: of 20 rounds the status differs in 20, 500 Internal Server Error instead of an answer" + surely},
		"a status alone":   {"/a json", always(ok("{}"), Answer{Status: 404, Body: []byte("{}")}), Same, "/a: 60 requests (200 OK), nothing differs"},
		"no answer":        {"/a", always(ok(""), Answer{Broken: true}), Differ, "/a: of 20 rounds the status differs in 20, no whole answer instead of 200 OK" + surely},
		"half an answer":   {"/a", always(ok(""), Answer{Status: 200, Broken: true}), Differ, "/a: of 20 rounds the status differs in 20, no whole answer instead of 200 OK" + surely},
		"enough rounds":    {"/a", first(7, ok(""), broken), Differ, "/a: of 20 rounds the status differs in 7, 404 Not Found instead of 200 OK: the chance that this is chance is less than 1 in 1,000"},
		"too few for that": {"/a", first(6, ok(""), broken), Same, "/a: 60 requests (200 OK), nothing differs; of the candidate alone, in so few rounds that it may be chance: the status in 6"},
		"as noisy": {"/a", func(i int) Round {
			r := [3]Answer{ok(""), ok(""), ok("")}
			r[i%3] = broken
			return Round{r[0], r[1], r[2]}
		}, Same, "/a: 60 requests (200 OK, 404 Not Found), nothing differs beyond what two answers of the old revision differ in, which is the status"},
		"noisy and worse": {"/a", func(i int) Round {
			r := Round{ok(""), broken, ok("")}
			if i%10 == 9 {
				r = Round{broken, ok(""), ok("")}
			}
			return r
		}, Differ, "/a: of 20 rounds the status differs in 18 (in 2 of the others between answers of the old revision), 404 Not Found instead of 200 OK" + surely},
		"slower":            {"/a latency<=1.5x", always(ok(""), slow), Differ, "/a: of 20 rounds the candidate takes more than 1.5 times as long in 20" + surely},
		"slower than one":   {"/a latency<=1.5x", func(int) Round { return Round{ok(""), slow, slow} }, Same, "/a: 60 requests (200 OK), nothing differs"},
		"slow enough":       {"/a latency<=1.6x", always(ok(""), slow), Same, "/a: 60 requests (200 OK), nothing differs"},
		"not asked":         {"/a status", always(ok("{}"), slow), Same, "/a: 60 requests (200 OK), nothing differs"},
		"another field":     {"/a json", always(ok(`{"a":"secret","b":[{"c":1}]}`), ok(`{"a":"Secret","b":[{"c":"1"}]}`)), Differ, "/a: of 20 rounds 2 fields differ: a in 20, b[].c in 20 (a string instead of a number)" + surely},
		"a field is gone":   {"/a json", always(ok(`{"a":1,"b":2}`), ok(`{"a":1,"c":2}`)), Differ, "/a: of 20 rounds 2 fields differ: b in 20 (missing), c in 20 (new)" + surely},
		"ignored":           {"/a json ignore=b", always(ok(`{"a":1,"b":{"c":1}}`), ok(`{"a":1,"b":{"c":2}}`)), Same, "/a: 60 requests (200 OK), nothing differs"},
		"a clock":           {"/a json", counting(`{"at":%d}`), Same, "/a: 60 requests (200 OK), nothing differs beyond what two answers of the old revision differ in, which is at"},
		"a slow clock":      {"/a json", func(i int) Round { return Round{ok(fmt.Sprint(i)), ok(fmt.Sprint(i + i%2)), ok(fmt.Sprint(i + 1))} }, Same, "/a: 60 requests (200 OK), nothing differs beyond what two answers of the old revision differ in, which is the body"},
		"names of its own":  {"/a json", counting(`{"by":{"id%d":1}}`), Same, "/a: 60 requests (200 OK), nothing differs beyond what two answers of the old revision differ in, which is by.id0, by.id11, by.id12, by.id14, by.id15 and 35 more"},
		"status and fields": {"/a status,json", always(ok(`{"a":1}`), Answer{Status: 500, Body: []byte(`{"b":1}`)}), Differ, "/a: of 20 rounds the status differs in 20, 500 Internal Server Error instead of 200 OK" + surely},
		"no JSON any more":  {"/a json", always(ok(`{}`), ok(`{`)), Differ, "/a: of 20 rounds 1 field differs: the body in 20 (no JSON instead of an object)" + surely},
		"no JSON at all":    {"/a json", always(ok(`<p>`), ok(`<p>`)), Open, "/a: the old revision does not answer with JSON of at most a mebibyte, so there are no fields to compare"},
		"all fields":        {"/a json", always(ok(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`), ok(`{"a":2,"b":2,"c":2,"d":2,"e":2,"f":2,"g":2}`)), Differ, "/a: of 20 rounds 7 fields differ: a in 20, b in 20, c in 20, d in 20, e in 20 and 2 more" + surely},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Judge([]*Comparison{compared(t, test.line, test.round)})
			if got != (Verdict{test.state, test.want}) {
				t.Errorf("%s: %s\nwant %s: %s", got.State, got.Reason, test.state, test.want)
			}
		})
	}
}

// TestJudgeSeveral has comparisons of which one is clear and one is not.
func TestJudgeSeveral(t *testing.T) {
	t.Parallel()
	same := compared(t, "/same json", always(ok("{}"), ok("{}")))
	few := New(Question{Path: "/few", Status: true, Count: 20})
	for range 6 {
		few.Add(Round{ok(""), ok(""), ok("")})
	}
	bad := compared(t, "/bad", always(ok(""), Answer{Status: 500}))
	for _, test := range []struct {
		comparisons []*Comparison
		state       State
		want        string
	}{
		{[]*Comparison{same, few}, Open, "/few: 6 of 20 rounds are whole, which is too few to say"},
		{[]*Comparison{few, bad, same}, Differ, "/bad: of 20 rounds the status differs in 20, 500 Internal Server Error instead of 200 OK: the chance"},
		{[]*Comparison{same, same}, Same, "/same: 60 requests (200 OK), nothing differs; /same: 60 requests (200 OK), nothing differs"},
		{[]*Comparison{New(Question{Path: "/none", Status: true, Count: 20})}, Open, "/none: 0 of 20 rounds are whole, which is too few to say"},
	} {
		if got := Judge(test.comparisons); got.State != test.state || !strings.HasPrefix(got.Reason, test.want) {
			t.Errorf("%s: %s\nwant %s: %s", got.State, got.Reason, test.state, test.want)
		}
	}
}

// TestSharing has more fields that differ make it harder for each, and those
// that could not fail make no difference.
func TestSharing(t *testing.T) {
	t.Parallel()
	field := func(odd int) test { return test{what: ofField, tally: tally{odd: odd}, most: odd} }
	for _, row := range []struct {
		odds []int
		want float64
	}{
		{nil, 1}, {[]int{20}, 1}, {[]int{20, 20, 20}, 3}, {[]int{20, 1, 1, 0, 6}, 1}, {[]int{20, 7, 7}, 3}, {[]int{7, 7}, 2}, {[]int{20, 6, 6}, 1}, {[]int{20, 20, 7}, 3}, {[]int{8, 8, 8, 8, 7}, 4},
	} {
		var tests []test
		for _, odd := range row.odds {
			tests = append(tests, field(odd))
		}
		got := sharedBy(tests)
		if got != row.want {
			t.Errorf("rounds %v are shared by %g, want %g", row.odds, got, row.want)
		}
	}
}

// TestAtLeast compares with chances that are easily counted.
func TestAtLeast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		k, m int
		want float64
	}{{0, 0, 1}, {0, 5, 1}, {1, 1, 1.0 / 3}, {2, 2, 1.0 / 9}, {1, 2, 5.0 / 9}, {2, 3, 7.0 / 27}, {20, 20, math.Pow(3, -20)}} {
		if got := atLeast(test.k, test.m); math.Abs(got-test.want) > 1e-12*math.Max(1, test.want) && math.Abs(got/test.want-1) > 1e-9 {
			t.Errorf("%d or more of %d: %g, want %g", test.k, test.m, got, test.want)
		}
	}
}
