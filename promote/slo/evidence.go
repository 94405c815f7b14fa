package slo

import (
	"cmp"
	"math"
	"slices"
)

// points is over how many values a bet spreads its stake.
const points = 200

// most is the largest ratio of odds that a comparison bets on.
const most = 1000

// evidence is how far a bet has come: the logarithm of its e-value, and the
// period from which on the counts say the most.
type evidence struct {
	log  float64
	from int
}

// reaches tells whether the e-value is at the bar.
func (e evidence) reaches(bar float64) bool { return e.log >= math.Log(bar) }

// An observation is which share of some requests was bad, and how often that was seen.
type observation struct {
	share    float64 // of the candidate's requests; beside an old revision, the candidate's share of all bad ones
	expected float64 // beside an old revision, where both are alike: the candidate's share of all requests
	times    float64
}

// part is the candidate's share of what both revisions have; no number where they have nothing.
func part(candidate, old int) float64 { return float64(candidate) / float64(candidate+old) }

// together are the observations with those that are alike as one.
func together(all []observation) []observation {
	slices.SortFunc(all, func(a, b observation) int {
		return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.expected, b.expected))
	})
	var alike []observation
	for _, o := range all {
		if last := len(alike) - 1; last >= 0 && alike[last].share == o.share && alike[last].expected == o.expected {
			alike[last].times += o.times
		} else {
			alike = append(alike, o)
		}
	}
	return alike
}

// againstLimit is the evidence that more than limit of the candidate's requests are bad, from the observations of each period.
func againstLimit(limit float64, periods [][]observation) evidence {
	bad, good := make([]float64, points), make([]float64, points)
	for i := range points {
		p := math.Pow(limit, 1-(float64(i)+0.5)/points) // between the limit and 1
		bad[i], good[i] = p/limit, (1-p)/(1-limit)
	}
	return overBeginnings(periods, func(o observation, bets []float64) {
		for i := range bets {
			bets[i] += o.times * math.Log(o.share*bad[i]+(1-o.share)*good[i])
		}
	})
}

// againstOld is the evidence that the candidate's odds of a bad request are
// higher than the old revision's.
func againstOld(periods [][]observation) evidence {
	if !slices.ContainsFunc(periods, func(seen []observation) bool { return len(seen) > 0 }) {
		return evidence{} // nothing to bet on
	}
	excess := make([]float64, points)
	for i := range points {
		excess[i] = math.Expm1(math.Log(most) * (float64(i) + 0.5) / points)
	}
	return overBeginnings(periods, func(o observation, bets []float64) {
		for i := range bets {
			bets[i] += o.times * (math.Log1p(o.share*excess[i]) - math.Log1p(o.expected*excess[i]))
		}
	})
}

// overBeginnings spreads the stake over the periods at which the trouble may
// have begun. add puts what was observed to the logarithms of the bets.
func overBeginnings(periods [][]observation, add func(observation, []float64)) evidence {
	bets := make([]float64, points)
	stakes := []float64{-math.Log(float64(len(periods)) + 1)} // what is not yet bet
	best := evidence{log: math.Inf(-1)}
	for from := len(periods) - 1; from >= 0; from-- {
		for _, seen := range periods[from] {
			add(seen, bets)
		}
		order := float64(from) + 1
		stake := logSum(bets) - math.Log(points) - math.Log(order*(order+1))
		if stakes = append(stakes, stake); stake >= best.log {
			best = evidence{stake, from}
		}
	}
	best.log = logSum(stakes)
	return best
}

// logSum is the logarithm of the sum of what the values are the logarithms of,
// without leaving the range of numbers on the way.
func logSum(logs []float64) float64 {
	top := math.Inf(-1)
	for _, l := range logs {
		top = max(top, l)
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum)
}
