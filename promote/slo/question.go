package slo

import "math"

// A question is one of those that the counts are asked.
type question struct {
	rule  Rule
	bad   string // what bad requests did
	limit float64
	count func(Counts) int // the bad ones
}

func (o Objective) questions() []question {
	var all []question
	if o.Success > 0 {
		all = append(all, question{Success, "failed", rest(o.Success), func(c Counts) int { return c.Failed }})
	}
	if o.Latency > 0 {
		all = append(all, question{Latency, "took longer than " + o.Latency.String(), rest(o.Fast), func(c Counts) int { return c.Slow }})
	}
	return all
}

// An answer is what the counts say to a question.
type answer struct {
	question
	stretches []Stretch
	overLimit evidence // against the limit
	alone     evidence // the same from stretches without an old revision to compare with
	overOld   evidence // against the old revision
}

func (q question) ask(stretches []Stretch) answer {
	var all, alone []tally
	for _, s := range stretches {
		t := tally{requests: float64(s.Candidate.Requests), bad: float64(q.count(s.Candidate))}
		if s.Old != nil {
			t.oldRequests, t.oldBad = float64(s.Old.Requests), float64(q.count(*s.Old))
		}
		if all = append(all, t); !s.compared() {
			alone = append(alone, t)
		}
	}
	a := answer{question: q, stretches: stretches, overLimit: againstLimit(q.limit, all), overOld: againstOld(all)}
	a.alone = a.overLimit
	if len(alone) < len(all) {
		a.alone = againstLimit(q.limit, alone)
	}
	return a
}

// compared tells whether the old revision has requests enough to compare with.
func (s Stretch) compared() bool {
	return s.Old != nil && float64(s.Old.Requests)+1 > float64(s.Candidate.Requests)/10
}

// broken is the verdict where the evidence is at the bar.
func (a answer) broken(bar float64) Verdict {
	switch {
	case a.overLimit.reaches(bar) && (a.alone.reaches(bar) || a.overOld.reaches(bar)):
		return Verdict{State: Broken, Rule: a.rule, Reason: a.beyond(), EValue: a.overLimit.value()}
	case a.rule == Success && a.overOld.reaches(bar):
		return Verdict{State: Broken, Rule: WorseThanStable, Reason: a.worseThanOld(), EValue: a.overOld.value()}
	}
	return Verdict{}
}

// A portion are the bad ones among requests.
type portion struct {
	bad, requests int
	shared        bool // some of the old revision's are the candidate's
}

// sum adds what the stretches have counted, of the candidate and of the old revision.
func (q question) sum(stretches []Stretch) (candidate, old portion) {
	for _, s := range stretches {
		candidate = portion{bad: candidate.bad + q.count(s.Candidate), requests: candidate.requests + s.Candidate.Requests}
		if s.Old != nil {
			old = portion{old.bad + q.count(*s.Old), old.requests + s.Old.Requests, old.shared || s.Shared}
		}
	}
	return candidate, old
}

// within tells whether so many bad ones of so many requests are within the limit.
// A single one always is: it is no share.
func (q question) within(p portion) bool {
	return float64(p.bad) <= max(1, q.limit*float64(p.requests)+1e-9)
}

// missed is how many of those promotions are kept in which a share of twice the
// limit is bad.
const missed = 0.05

// clear tells whether so many bad ones of so many requests rule out that twice
// the limit is bad. It is Wald's test of that share against half the limit. A
// single bad one rules out nothing, and is let through: small services have no
// more to show.
func (q question) clear(p portion) bool {
	high, low := twice(q.limit), q.limit/2
	bad, good := float64(p.bad), float64(p.requests-p.bad)
	return p.bad <= 1 || bad*math.Log(low/high)+good*(math.Log1p(-low)-math.Log1p(-high)) >= -math.Log(missed)
}

// twice is the double of a share, or half the way to 1 where that is less.
func twice(share float64) float64 { return min(2*share, (1+share)/2) }
