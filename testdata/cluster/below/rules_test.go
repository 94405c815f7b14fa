package main

import (
	"go/parser"
	"go/token"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestBehaviourOfImage(t *testing.T) {
	t.Parallel()
	const s = time.Second
	ok := behaviour{status: http.StatusOK}
	with := func(change func(*behaviour)) behaviour {
		b := ok
		change(&b)
		return b
	}
	for image, want := range map[string]behaviour{
		"ghcr.io/acme/shop:v1.2.3": ok,
		"ghcr.io/acme/shop@sha256:fa11bad0beef5510300500c0ffee0123456789abcdef0123456789abcdef0123": ok,
		"ghcr.io/acme/unbroken:v1":            ok,
		"ghcr.io/acme/flag5:v1":               ok,
		"ghcr.io/acme/http2-proxy:v1":         ok,
		"ghcr.io/acme/shop:slow0":             ok,
		"ghcr.io/acme/shop:v1-broken":         with(func(b *behaviour) { b.stuck = unpullable }),
		"ghcr.io/acme/shop:broken7":           with(func(b *behaviour) { b.stuck = unpullable }),
		"ghcr.io/acme/shop:v1-unschedulable":  with(func(b *behaviour) { b.stuck = unscheduled }),
		"ghcr.io/acme/shop:v1-exit137":        with(func(b *behaviour) { b.stuck, b.exitCode = crashed, 137 }),
		"ghcr.io/acme/shop:v1-unready":        with(func(b *behaviour) { b.stuck = unready }),
		"ghcr.io/acme/slow5:v1":               with(func(b *behaviour) { b.slow = 5 * s }),
		"ghcr.io/acme/shop:v1-flap5":          with(func(b *behaviour) { b.flap = 5 * s }),
		"ghcr.io/acme/shop:v1-crash15":        with(func(b *behaviour) { b.crash, b.exitCode = 15*s, 1 }),
		"ghcr.io/acme/shop:v1-http404":        with(func(b *behaviour) { b.status = 404 }),
		"ghcr.io/acme/shop:v1-fail30":         with(func(b *behaviour) { b.failing = 300 }),
		"ghcr.io/acme/shop:v1-lag300":         with(func(b *behaviour) { b.lag = 300 * time.Millisecond }),
		"ghcr.io/acme/shop:v1-rare2":          with(func(b *behaviour) { b.failing = 2 }),
		"ghcr.io/acme/shop:v1-overload8":      with(func(b *behaviour) { b.overload = 8 }),
		"ghcr.io/acme/shop:v1-leak5":          with(func(b *behaviour) { b.leak = 5 * time.Millisecond }),
		"ghcr.io/acme/shop:v1-score95":        with(func(b *behaviour) { b.score = 95 }),
		"ghcr.io/acme/shop:v2-slow5-http500":  with(func(b *behaviour) { b.slow, b.status = 5*s, 500 }),
		"ghcr.io/acme/shop:v2-slow10-crash20": with(func(b *behaviour) { b.slow, b.crash, b.exitCode = 10*s, 20*s, 1 }),
	} {
		if got := book(rules()).behaviourOf(image); got != want {
			t.Errorf("%s: got %+v, want %+v", image, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		behaviour behaviour
		age       time.Duration
		want      moment
	}{
		"ready before its first second":  {behaviour{}, -s / 2, moment{ready, 0, forever}},
		"broken":                         {behaviour{stuck: unpullable}, 0, moment{unpullable, 0, forever}},
		"broken for good":                {behaviour{stuck: unpullable}, time.Hour, moment{unpullable, 0, forever}},
		"slow, in its first second":      {behaviour{slow: 5 * s}, -s / 2, moment{unready, 0, 5 * s}},
		"slow, before":                   {behaviour{slow: 5 * s}, 5*s - 1, moment{unready, 0, 5 * s}},
		"slow, after":                    {behaviour{slow: 5 * s}, 5 * s, moment{ready, 5 * s, forever}},
		"crash, before":                  {behaviour{crash: 5 * s}, 4 * s, moment{ready, 0, 5 * s}},
		"crash, after":                   {behaviour{crash: 5 * s}, 5 * s, moment{crashed, 5 * s, forever}},
		"crash, for good":                {behaviour{crash: 5 * s}, time.Hour, moment{crashed, 5 * s, forever}},
		"flap, before":                   {behaviour{flap: 9 * s}, 8 * s, moment{ready, 0, 9 * s}},
		"flap, unready":                  {behaviour{flap: 9 * s}, 9 * s, moment{unready, 9 * s, 14 * s}},
		"flap, after":                    {behaviour{flap: 9 * s}, 14 * s, moment{ready, 14 * s, forever}},
		"slow and crash, not ready yet":  {behaviour{slow: 5 * s, crash: 2 * s}, 4 * s, moment{unready, 0, 5 * s}},
		"slow and crash, ready":          {behaviour{slow: 5 * s, crash: 2 * s}, 6 * s, moment{ready, 5 * s, 7 * s}},
		"slow and crash, crashed":        {behaviour{slow: 5 * s, crash: 2 * s}, 7 * s, moment{crashed, 7 * s, forever}},
		"flap and crash at once, before": {behaviour{flap: 5 * s, crash: 5 * s}, 4 * s, moment{ready, 0, 5 * s}},
		"flap and crash at once, after":  {behaviour{flap: 5 * s, crash: 5 * s}, 10 * s, moment{crashed, 10 * s, forever}},
	} {
		if got := c.behaviour.at(c.age); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	b := behaviour{status: http.StatusOK, failing: 300}
	failed := 0
	for random := range 1000 {
		if b.answer(random, 1) == http.StatusInternalServerError {
			failed++
		}
	}
	if failed != 300 {
		t.Errorf("fail30 fails %d of the 1000 random numbers, want 300", failed)
	}
	if b = (behaviour{status: http.StatusOK, overload: 8}); b.answer(0, 8) != http.StatusOK || b.answer(0, 9) != http.StatusInternalServerError {
		t.Error("overload8 fails other than what comes after the eighth request of a second")
	}
	if b = (behaviour{lag: time.Second, leak: time.Millisecond}); b.wait(0) != time.Second || b.wait(500) != 1500*time.Millisecond {
		t.Error("leak1 does not answer each request a millisecond later")
	}
}

// TestPackageCommentTellsEveryRule keeps the table that people read to the one that the program uses, in its order.
func TestPackageCommentTellsEveryRule(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "main.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var told, used []string
	for line := range strings.Lines(file.Doc.Text()) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "\t") && len(fields) > 1 && fields[0] != "below" {
			told = append(told, fields[0])
		}
	}
	for _, r := range rules() {
		used = append(used, r.name)
	}
	if got, want := strings.Join(told, " "), strings.Join(used, " "); got != want {
		t.Errorf("the package comment tells the rules %q, the program uses %q: write the same in both", got, want)
	}
}
