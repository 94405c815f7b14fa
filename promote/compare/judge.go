package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// State is what all rounds together say.
type State string

// The states of a verdict.
const (
	Same   State = "same"   // nothing differs beyond noise, and it would have been seen
	Differ State = "differ" // beyond what chance does
	Open   State = "open"   // too few rounds, or no JSON to compare
)

// A Verdict is what Judge says. The reason has paths and names of fields, and
// no values.
type Verdict struct {
	State  State
	Reason string
}

// falseAlarm is the chance that a candidate that behaves as the old revision is
// ever said to differ, all questions and fields together.
const falseAlarm = 0.001

// A test is one thing that is compared, with what was counted of it.
type test struct {
	what   thing
	name   string // of a field
	tally  tally
	most   int     // rounds that could have been the candidate's
	chance float64 // of so many of them or more, if it behaves as the old revision
}

// A thing is what of an answer a test is about.
type thing int

const (
	ofStatus thing = iota
	ofLatency
	ofField
)

// Judge says whether the candidate behaves as the old revision in all
// comparisons. Each has its rounds.
func Judge(comparisons []*Comparison) Verdict {
	tests := make([][]test, len(comparisons))
	for i, c := range comparisons {
		tests[i] = c.tests()
	}
	shared := sharedBy(slices.Concat(tests...))
	var differs []string
	for i, c := range comparisons {
		var beyond []test
		for _, t := range tests[i] {
			if t.chance*shared < falseAlarm {
				beyond = append(beyond, t)
			}
		}
		if len(beyond) > 0 {
			differs = append(differs, c.differs(beyond, shared))
		}
	}
	if len(differs) > 0 {
		return Verdict{Differ, joined(differs)}
	}
	if open := unclear(comparisons); open != "" {
		return Verdict{Open, open}
	}
	return Verdict{Same, inWords(comparisons)}
}

// tests are the things that are compared, the fields by name.
func (c *Comparison) tests() []test {
	if all, _ := c.incomparable(); all {
		return nil
	}
	list := []test{{what: ofStatus, tally: c.status, most: c.status.odd}}
	if c.question.Latency > 0 {
		list = append(list, test{what: ofLatency, tally: tally{odd: c.rounds, own: c.slower}, most: c.rounds})
	}
	for _, name := range slices.Sorted(maps.Keys(c.fields)) {
		t := c.fields[name].judged()
		list = append(list, test{what: ofField, name: name, tally: t, most: t.odd})
	}
	for i, t := range list {
		list[i].chance = atLeast(t.tally.own, t.most)
	}
	return list
}

// sharedBy is by how many tests the chance of a false alarm is shared, after
// Tarone: the smallest number such that no more tests than that could fail if
// they shared it.
func sharedBy(tests []test) float64 {
	least := make([]float64, len(tests))
	for i, t := range tests {
		least[i] = atLeast(t.most, t.most)
	}
	slices.SortFunc(least, cmp.Compare)
	k := 1
	for k < len(least) && least[k]*float64(k) < falseAlarm {
		k++
	}
	return float64(k)
}

// atLeast is the chance of k or more of m, each with 1/3.
func atLeast(k, m int) float64 {
	sum := 0.0
	for i := k; i <= m; i++ {
		sum += math.Exp(logChoose(m, i) - float64(i)*math.Log(3) + float64(m-i)*math.Log(2.0/3))
	}
	return min(sum, 1)
}

// logChoose is the logarithm of the number of ways to choose k of m.
func logChoose(m, k int) float64 {
	all, _ := math.Lgamma(float64(m) + 1)
	chosen, _ := math.Lgamma(float64(k) + 1)
	left, _ := math.Lgamma(float64(m-k) + 1)
	return all - chosen - left
}
