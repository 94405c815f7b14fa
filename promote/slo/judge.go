package slo

import (
	"fmt"
	"math"
)

// Counts are the requests of one revision in one period.
type Counts struct {
	Requests int
	Failed   int // of the requests
	Slow     int // of the requests: those that were not answered within Latency
}

// Since is what has come after earlier counts of the same requests.
func (c Counts) Since(earlier Counts) Counts {
	return Counts{Requests: c.Requests - earlier.Requests, Failed: c.Failed - earlier.Failed, Slow: c.Slow - earlier.Slow}
}

// And is the sum.
func (c Counts) And(more Counts) Counts {
	return Counts{Requests: c.Requests + more.Requests, Failed: c.Failed + more.Failed, Slow: c.Slow + more.Slow}
}

// A Period is a part of a promotion in which the traffic was shared in one way:
// a step, or a part of one. Where a step bakes for long, one period for each
// minute finds sooner what begins late.
type Period struct {
	Step      string // its name; periods of one step follow each other
	Candidate Counts // since the period began
	// Old is nil where the old revision is not counted.
	Old *Counts
	// Shared says that Old are requests to the Service, of which some reach the
	// candidate.
	Shared bool
	// Bounds are nil where the counts of both revisions are of one moment.
	Bounds *Bounds
	// Seconds are what the counts are the sums of, where that is known. What goes wrong in one of them may have one cause,
	// and is one observation. Without any, each request is one.
	Seconds []Second
}

// A Second is what was sent in so short a time, whenever it ended.
type Second struct {
	Candidate Counts
	Old       Counts // none where the old revision is not counted
}

// Bounds are the counts to compare where one revision may be counted later than
// the other, such as by pods that are scraped one after the other.
type Bounds struct {
	Candidate, Old Range
	// Within are those of the candidate that are surely not of the time before the
	// period.
	Within Counts
}

// A Range is from what was counted in a period, or in the part of it that has been
// counted of both revisions, to what was counted from a while before that to a
// while after it. The while is as long as one may be counted later than the other.
type Range struct{ Least, Most Counts }

// State is what the counts say of an objective.
type State string

// The states of a verdict.
const (
	Undecided State = "undecided" // go on looking; inconclusive where the time is over
	Kept      State = "kept"      // the time is over, the requests were enough, and within the limits
	Broken    State = "broken"    // beyond what chance does
)

// Rule is what a candidate has broken.
type Rule string

// The rules.
const (
	Success Rule = "success"
	Latency Rule = "latency"
	// WorseThanStable is that the candidate fails more often than the old
	// revision, be it within the limit.
	WorseThanStable Rule = "worse-than-stable"
)

// A Verdict is what Judge says.
type Verdict struct {
	State  State
	Rule   Rule // where it is Broken
	Reason string
	// EValue is the evidence against the candidate, at most 1e300: a good one
	// ever gets there in 1 of EValue promotions at most.
	EValue float64
}

// falseAlarm is the chance that a promotion of a good candidate is ever called
// broken, all looks and all bets together.
const falseAlarm = 0.001

// bar is the e-value that says broken.
func (o Objective) bar() float64 {
	bets := 0
	if o.Success > 0 {
		bets += 2 // the limit, and the old revision
	}
	if o.Latency > 0 {
		bets++
	}
	return float64(bets) / falseAlarm
}

// Judge says what all periods of a promotion so far mean. Over is whether the
// time of the step is over; without it nothing is kept.
//
// Where the old revision is counted, a candidate that breaks a limit is called
// broken only if it is worse than the old one as well. A period in which the old
// one has less than a tenth of the candidate's requests, such as at 100 %, is
// judged by the limit alone. Failures are compared within the limit too, slow
// requests only beyond it: the first requests of a new revision are slower.
//
// Kept also wants the bad requests of the step to be within the limit, and those
// of all steps to be so few that twice the limit is ruled out. What chance may
// explain is undecided, and a caller who looks on for a while gets to know: the
// evidence stays valid.
func (o Objective) Judge(periods []Period, over bool) Verdict {
	if wrong := impossible(periods); wrong != "" {
		return Verdict{State: Undecided, Reason: wrong, EValue: 1}
	}
	var answers []answer
	for _, q := range o.questions() {
		answers = append(answers, q.ask(periods))
	}
	for _, a := range answers {
		if verdict := a.broken(o.bar()); verdict.State == Broken {
			return verdict
		}
	}
	return o.end(answers, periods, over)
}

// end is the verdict where nothing is broken.
func (o Objective) end(answers []answer, periods []Period, over bool) Verdict {
	verdict := Verdict{State: Undecided, EValue: 1}
	for _, a := range answers {
		verdict.EValue = max(verdict.EValue, a.overLimit.value())
	}
	step := lastStep(periods)
	requests := 0
	for _, s := range step {
		requests += s.Candidate.Requests
	}
	reason, kept := o.inWords(answers, step)
	switch {
	case requests < o.Requests:
		verdict.Reason = fmt.Sprintf("%s in this step, expected at least %s: too few to say", requestsOf(requests), grouped(o.Requests))
	case kept && over:
		verdict.State, verdict.Reason = Kept, reason
	default:
		verdict.Reason = reason
	}
	return verdict
}

// lastStep are the periods of the step that the last one belongs to.
func lastStep(periods []Period) []Period {
	for i := len(periods) - 1; i > 0; i-- {
		if periods[i-1].Step != periods[i].Step {
			return periods[i:]
		}
	}
	return periods
}

// impossible says which counts cannot be.
func impossible(periods []Period) string {
	for _, s := range periods {
		if !s.Candidate.Possible() {
			return fmt.Sprintf("the counts of the candidate in step %s cannot be: %+v", s.Step, s.Candidate)
		}
		if s.Old != nil && !s.Old.Possible() {
			return fmt.Sprintf("the counts of the old revision in step %s cannot be: %+v", s.Step, *s.Old)
		}
		if b := s.Bounds; b != nil && !(b.Candidate.possible() && b.Old.possible() && b.Within.Possible()) {
			return fmt.Sprintf("the counts of step %s cannot be: %+v", s.Step, *b)
		}
	}
	return ""
}

// Possible tells whether there can be such counts.
func (c Counts) Possible() bool {
	return min(c.Requests, c.Failed, c.Slow) >= 0 && max(c.Failed, c.Slow) <= c.Requests
}

func (r Range) possible() bool { return r.Least.Possible() && r.Most.Possible() }

// value is the e-value as a number that can be written in JSON.
func (e evidence) value() float64 { return min(math.Exp(e.log), 1e300) }
