package main

import (
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// rule is one row of the table in the package comment.
type rule struct {
	name    string // as the package comment writes it
	pattern *regexp.Regexp
	apply   func(b *behaviour, n int)
}

// word matches a rule in an image's reference. A digest never matches by chance: every rule's word has a letter that no
// hexadecimal number has.
func word(name, number string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^a-z])` + name + number)
}

const (
	noNumber = ``
	count    = `([1-9]\d*)`
	status   = `([2-5]\d\d)`
)

// rules tells every rule, in the order of the package comment.
func rules() []rule {
	return []rule{
		{"broken", word("broken", noNumber), func(b *behaviour, _ int) { b.stuck = unpullable }},
		{"unschedulable", word("unschedulable", noNumber), func(b *behaviour, _ int) { b.stuck = unscheduled }},
		{"exitN", word("exit", count), func(b *behaviour, n int) { b.stuck, b.exitCode = crashed, int32(n) }},
		{"unready", word("unready", noNumber), func(b *behaviour, _ int) { b.stuck = unready }},
		{"slowN", word("slow", count), func(b *behaviour, n int) { b.slow = seconds(n) }},
		{"flapN", word("flap", count), func(b *behaviour, n int) { b.flap = seconds(n) }},
		{"crashN", word("crash", count), func(b *behaviour, n int) { b.crash, b.exitCode = seconds(n), 1 }},
		{"goneN", word("gone", count), func(b *behaviour, n int) { b.gone = time.Unix(int64(n), 0) }},
		{"httpNNN", word("http", status), func(b *behaviour, n int) { b.status = n }},
		{"failN", word("fail", count), func(b *behaviour, n int) { b.failing = 10 * n }},
		{"rareN", word("rare", count), func(b *behaviour, n int) { b.failing = n }},
		{"overloadN", word("overload", count), func(b *behaviour, n int) { b.overload = n }},
		{"lagN", word("lag", count), func(b *behaviour, n int) { b.lag = time.Duration(n) * time.Millisecond }},
		{"leakN", word("leak", count), func(b *behaviour, n int) { b.leak = time.Duration(n) * time.Millisecond }},
		{"scoreN", word("score", count), func(b *behaviour, n int) { b.score = n }},
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// behaviour is what an image's rules make of its container.
type behaviour struct {
	stuck             state // for good, unless it is ready
	slow, flap, crash time.Duration
	exitCode          int32
	gone              time.Time // since then nobody can pull the image; zero: everybody can

	status   int
	failing  int // of a thousand requests
	overload int // requests in a second; all of those beyond fail; 0: none do
	lag      time.Duration
	leak     time.Duration // each answer takes so much longer than the one before
	score    int           // said in each answer
}

// book reads the rules of images.
type book []rule

// behaviourOf reads the rules in an image's reference.
func (r book) behaviourOf(image string) behaviour {
	b := behaviour{status: http.StatusOK}
	for _, rule := range r {
		match := rule.pattern.FindStringSubmatch(image)
		if match == nil {
			continue
		}
		n, _ := strconv.Atoi(match[len(match)-1]) // Words without a number do not use it.
		rule.apply(&b, n)
	}
	return b
}

// answer is the status of one request, given a random number below 1000, and how many came within its second.
func (b behaviour) answer(random, within int) int {
	if random < b.failing || b.overload > 0 && within > b.overload {
		return http.StatusInternalServerError
	}
	return b.status
}

// wait is how long a request waits for its answer that comes after so many others.
func (b behaviour) wait(before int) time.Duration { return b.lag + time.Duration(before)*b.leak }

// state is what a container is in.
type state int

const (
	ready state = iota
	unready
	unpullable
	unscheduled
	crashed
)

// flapTime is how long a flapping container is unready.
const flapTime = 5 * time.Second

// forever is after every container's end.
const forever = time.Duration(1<<63 - 1)

// phase is a container's state until an age.
type phase struct {
	state state
	until time.Duration
}

// madeAt is how a container of a pod behaves that was made at a time.
func (b behaviour) madeAt(made time.Time) behaviour {
	if !b.gone.IsZero() && !made.Before(b.gone) {
		b.stuck = unpullable
	}
	return b
}

// phases is a container's life, in order.
func (b behaviour) phases() []phase {
	if b.stuck != ready {
		return []phase{{b.stuck, forever}}
	}
	var life []phase
	if b.slow > 0 {
		life = append(life, phase{unready, b.slow})
	}
	if b.flap > 0 {
		life = append(life, phase{ready, b.slow + b.flap}, phase{unready, b.slow + b.flap + flapTime})
	}
	if b.crash > 0 {
		life = append(life, phase{ready, b.slow + b.crash}, phase{crashed, forever})
	}
	return append(life, phase{ready, forever})
}

// moment is a container's state at an age, since when it is in it, and until when.
type moment struct {
	state        state
	since, until time.Duration
}

// at tells the moment of a container's life at an age.
func (b behaviour) at(age time.Duration) moment {
	var since time.Duration
	for _, p := range b.phases() {
		if age < p.until {
			return moment{p.state, since, p.until}
		}
		since = max(since, p.until)
	}
	return moment{ready, since, forever}
}
