package slo

import (
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

// A tally is how many requests of a period were bad, by one question.
type tally struct {
	requests, bad       float64 // of the candidate
	oldRequests, oldBad float64 // of the old revision, 0 where it was not counted
}

// againstLimit is the evidence that more than limit of the candidate's requests are bad.
func againstLimit(limit float64, tallies []tally) evidence {
	bad, good := make([]float64, points), make([]float64, points)
	for i := range points {
		p := math.Pow(limit, 1-(float64(i)+0.5)/points) // between the limit and 1
		bad[i], good[i] = math.Log(p/limit), math.Log1p(-p)-math.Log1p(-limit)
	}
	return overBeginnings(tallies, func(t tally, bets []float64) {
		for i := range bets {
			bets[i] += t.bad*bad[i] + (t.requests-t.bad)*good[i]
		}
	})
}

// againstOld is the evidence that the candidate's odds of a bad request are
// higher than the old revision's.
func againstOld(tallies []tally) evidence {
	if !slices.ContainsFunc(tallies, func(t tally) bool { return t.oldRequests > 0 }) {
		return evidence{} // nothing to bet on
	}
	excess, ratio := make([]float64, points), make([]float64, points)
	for i := range points {
		ratio[i] = math.Log(most) * (float64(i) + 0.5) / points
		excess[i] = math.Expm1(ratio[i])
	}
	return overBeginnings(tallies, func(t tally, bets []float64) {
		if t.requests == 0 || t.oldRequests == 0 {
			return
		}
		share := t.requests / (t.requests + t.oldRequests)
		for i := range bets {
			bets[i] += t.bad*ratio[i] - (t.bad+t.oldBad)*math.Log1p(excess[i]*share)
		}
	})
}

// overBeginnings spreads the stake over the periods at which the trouble may
// have begun. add puts what a period says to the logarithms of the bets.
func overBeginnings(tallies []tally, add func(tally, []float64)) evidence {
	bets := make([]float64, points)
	stakes := []float64{-math.Log(float64(len(tallies)) + 1)} // what is not yet bet
	best := evidence{log: math.Inf(-1)}
	for from := len(tallies) - 1; from >= 0; from-- {
		add(tallies[from], bets)
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
