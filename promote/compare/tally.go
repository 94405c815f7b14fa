package compare

import (
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Answer is what one revision answered to a request that was sent.
type Answer struct {
	Status int           // 0: there was none
	Broken bool          // it did not come, or not to its end
	Took   time.Duration // until the last byte
	Body   []byte        // its first mebibyte; of JSON questions alone
}

// A Round is the same request three times, in this order.
type Round struct{ Old, Candidate, OldAgain Answer }

// Bounds of what is counted over all rounds.
const (
	mostTallies = 10_000 // one whose name comes once, such as an id, takes a place and says nothing
	mostValues  = 10     // of a field, of each revision: a pod's zone is one of a few, its name is not
)

// A Comparison counts the rounds of a question. Make one with New.
type Comparison struct {
	question Question
	reader   reader
	rounds   int
	json     int // rounds in which both answers of the old revision were JSON
	statuses map[string]int
	answered int // answers of the old revision that were no failure
	good     int // of these: with a 2xx, which nothing in front of it gives
	failed   int // answers of the candidate that were one
	fixed    int // answers of the candidate with a 2xx
	status   tally
	slower   int // rounds in which the candidate took longer than it may
	fields   map[string]field
}

// New is a comparison without rounds.
func New(q Question) *Comparison {
	return &Comparison{
		question: q,
		reader:   reader{maphash.MakeSeed(), q.Ignore},
		statuses: map[string]int{},
		fields:   map[string]field{},
	}
}

// Rounds is how many rounds were added.
func (c *Comparison) Rounds() int { return c.rounds }

// Add counts a round.
func (c *Comparison) Add(r Round) {
	c.rounds++
	for _, a := range []Answer{r.Old, r.OldAgain} {
		if !a.failure() {
			c.answered++
		}
		if a.good() {
			c.good++
		}
	}
	if r.Candidate.good() {
		c.fixed++
	}
	if r.Candidate.failure() {
		c.failed++
	}
	c.statuses[r.Old.status()]++
	c.statuses[r.OldAgain.status()]++
	c.status.add(c.statusOf(r.Old), c.statusOf(r.Candidate), c.statusOf(r.OldAgain))
	if c.question.Latency > 0 && float64(r.Candidate.Took) > c.question.Latency*float64(max(r.Old.Took, r.OldAgain.Took)) {
		c.slower++
	}
	if c.question.JSON {
		c.addFields(c.fieldsOf(r.Old), c.fieldsOf(r.Candidate), c.fieldsOf(r.OldAgain))
	}
}

// failure tells whether the revision has failed, whatever was asked.
func (a Answer) failure() bool {
	return a.Broken || a.Status == 0 || a.Status >= http.StatusInternalServerError
}

// good tells whether there was a whole answer with a 2xx.
func (a Answer) good() bool { return !a.Broken && a.Status/100 == 2 }

// statusOf is what of a status is compared: whether the revision has failed, where the status is not asked for.
func (c *Comparison) statusOf(a Answer) value {
	if c.question.Status || a.failure() {
		return value{kind: a.status()}
	}
	return value{kind: "an answer"}
}

// incomparable tells whether the old revision fails always, so that there is nothing to compare with, and whether
// the candidate repairs that in all rounds.
func (c *Comparison) incomparable() (all, repaired bool) {
	all = c.rounds > 0 && c.answered == 0
	return all, all && c.fixed == c.rounds
}

// status is a word for an answer's status.
func (a Answer) status() string {
	if a.Broken || a.Status == 0 {
		return "no whole answer"
	}
	return strings.TrimSpace(strconv.Itoa(a.Status) + " " + http.StatusText(a.Status))
}

func (c *Comparison) fieldsOf(a Answer) map[string]value {
	if a.Broken || a.Status == 0 {
		return c.reader.fields(nil)
	}
	return c.reader.fields(a.Body)
}

// addFields counts the fields that are in any of the three answers. Their order
// by name does not depend on which answer is the candidate's, nor then does
// which of them find a place.
func (c *Comparison) addFields(old, candidate, again map[string]value) {
	const none = "no JSON"
	if old[whole].kind != none && again[whole].kind != none {
		c.json++
	}
	paths := maps.Clone(old)
	maps.Copy(paths, candidate)
	maps.Copy(paths, again)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		f, has := c.fields[path]
		if !has && len(c.fields) >= mostTallies {
			continue
		}
		f.add(old[path], candidate[path], again[path])
		c.fields[path] = f
	}
}

// A field is the tally of one, with its first values: those of the old revision, and the candidate's where it was the
// only one that differed.
type field struct {
	tally
	known []value
	alone []repeated
}

// repeated is a value that came in so many rounds.
type repeated struct {
	value
	rounds int
}

func (f *field) add(old, candidate, again value) {
	f.tally.add(old, candidate, again)
	for _, v := range []value{old, again} {
		if len(f.known) < mostValues && !slices.Contains(f.known, v) {
			f.known = append(f.known, v)
		}
	}
	if old != again || candidate == old {
		return
	}
	at := slices.IndexFunc(f.alone, func(r repeated) bool { return r.value == candidate })
	switch {
	case at >= 0:
		f.alone[at].rounds++
	case len(f.alone) < mostValues:
		f.alone = append(f.alone, repeated{candidate, 1})
	}
}

// judged is the tally without the rounds in which the candidate alone had a value that the old revision had in another
// one: a pod may keep it, as its zone, and the candidate has one pod. It makes the candidate's own rounds fewer, so the
// chance of them is still at most what it is said to be.
func (f field) judged() tally {
	t := f.tally
	for _, r := range f.alone {
		if slices.Contains(f.known, r.value) {
			t.own -= r.rounds
		}
	}
	return t
}

// A tally counts in how many rounds the answers differ in one thing.
type tally struct {
	odd    int    // exactly one of the three differs
	own    int    // of these: it is the candidate's
	noise  int    // the two of the old revision differ
	kind   string // of the candidate's, when it was last the only one that differs
	before string // of the old revision's then
}

// add counts a round. The zero value is that of a field that is not there.
func (t *tally) add(old, candidate, again value) {
	switch {
	case old == again && candidate != old:
		t.odd, t.own = t.odd+1, t.own+1
		t.kind, t.before = candidate.kind, old.kind
	case old != again:
		t.noise++
		if candidate == old || candidate == again {
			t.odd++
		}
	}
}
