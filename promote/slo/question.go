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

// An answer is what the counts say to a question. What goes wrong in one second may have one cause. Where it hits both revisions each
// request is a fair draw between them all the same, but where it hits one of them it is none.
type answer struct {
	question
	periods   []Period
	overLimit evidence // against the limit
	alone     evidence // the same from periods without an old revision to compare with
	overOld   evidence // against the old revision, of each request
	worse     evidence // the same of each second
}

func (q question) ask(periods []Period) answer {
	var all, alone, requests, seconds [][]observation
	for _, s := range periods {
		all = append(all, q.shares(s.Candidate, s.Seconds))
		requests, seconds = append(requests, q.beside(s)), append(seconds, q.besideInSeconds(s))
		if !s.compared() {
			alone = append(alone, q.shares(s.within(), s.Seconds))
		}
	}
	return answer{
		question: q, periods: periods,
		overLimit: againstLimit(q.limit, all), alone: againstLimit(q.limit, alone), overOld: againstOld(requests), worse: againstOld(seconds),
	}
}

// shares are those of the candidate's requests that were bad: of each second, or of each request.
func (q question) shares(c Counts, seconds []Second) (all []observation) {
	if seconds == nil {
		bad := float64(q.count(c))
		return []observation{{share: 1, times: bad}, {times: float64(c.Requests) - bad}}
	}
	for _, second := range seconds {
		if n := float64(second.Candidate.Requests); n > 0 {
			all = append(all, observation{share: float64(q.count(second.Candidate)) / n, times: 1})
		}
	}
	return together(all)
}

// beside is whose each of a period's bad requests was. Where only bounds are known, each is
// the one that speaks for the candidate: it has at least failed so often, in at
// most so many requests, and the old revision the other way round. The evidence
// is then at most what the true counts would give.
func (q question) beside(s Period) []observation {
	switch {
	case s.Old == nil:
		return nil
	case s.Bounds == nil:
		s.Bounds = &Bounds{Candidate: Range{s.Candidate, s.Candidate}, Old: Range{*s.Old, *s.Old}}
	}
	candidate, old := s.Bounds.Candidate, s.Bounds.Old
	expected := part(candidate.Most.Requests, old.Least.Requests)
	if !(expected > 0 && expected < 1) {
		return nil // nothing can be compared where one has no request
	}
	return []observation{
		{share: 1, expected: expected, times: float64(q.count(candidate.Least))},
		{share: 0, expected: expected, times: float64(q.count(old.Most))},
	}
}

// besideInSeconds is whose share of the bad requests of each second was how large.
func (q question) besideInSeconds(s Period) (all []observation) {
	if s.Seconds == nil || s.Old == nil {
		return q.beside(s)
	}
	for _, second := range s.Seconds {
		expected, bad, old := part(second.Candidate.Requests, second.Old.Requests), q.count(second.Candidate), q.count(second.Old)
		if expected > 0 && bad+old > 0 {
			all = append(all, observation{share: part(bad, old), expected: expected, times: 1})
		}
	}
	return together(all)
}

// within are the candidate's requests in the period, without those that may be of
// the time before.
func (s Period) within() Counts {
	if s.Bounds != nil {
		return s.Bounds.Within
	}
	return s.Candidate
}

// compared tells whether the old revision has requests enough to compare with,
// or may have them once they are counted.
func (s Period) compared() bool {
	candidate := s.Candidate.Requests
	if s.Bounds != nil {
		candidate = s.Bounds.Candidate.Least.Requests
	}
	return s.Old != nil && float64(s.Old.Requests)+1 > float64(candidate)/10
}

// broken is the verdict where the evidence is at the bar.
func (a answer) broken(bar float64) Verdict {
	worse := a.rule == Success && a.worse.reaches(bar)
	switch {
	case a.overLimit.reaches(bar) && (a.alone.reaches(bar) || a.overOld.reaches(bar) || worse):
		return Verdict{State: Broken, Rule: a.rule, Reason: a.beyond(), EValue: a.overLimit.value()}
	case worse:
		return Verdict{State: Broken, Rule: WorseThanStable, Reason: a.worseThanOld(), EValue: a.worse.value()}
	}
	return Verdict{}
}

// A portion are the bad ones among requests.
type portion struct {
	bad, requests int
	shared        bool // some of the old revision's are the candidate's
}

// sum adds what the periods have counted, of the candidate and of the old revision.
func (q question) sum(periods []Period) (candidate, old portion) {
	for _, s := range periods {
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
