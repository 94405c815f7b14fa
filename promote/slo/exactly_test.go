package slo

import (
	"cmp"
	"slices"
	"testing"
)

// TestFalseAlarmExactly computes the chance that a candidate at the limit is ever
// called broken, looked at after each of its requests, from all ways in which
// these can come.
func TestFalseAlarmExactly(t *testing.T) {
	t.Parallel()
	o := Objective{Success: 99, Requests: 50, From: Load}
	broken := func(requests, failed int) bool {
		return o.Judge([]Period{{Candidate: Counts{Requests: requests, Failed: failed}}}, false).State == Broken
	}
	for _, p := range []float64{0.005, 0.01} {
		alarm := ever(broken, p, 3000)
		t.Logf("%.1f %% of 3,000 requests fail, the limit is 1 %%: broken in %.4f %%", p*100, alarm*100)
		if alarm > 0.0005 || p == 0.01 && alarm < 0.00001 {
			t.Errorf("broken with the chance %g, expected 0.0005 at most, and not nothing", alarm)
		}
	}
}

// TestOneCauseExactly has all requests of a second fail together, in as many seconds as the limit permits. Judged as a cause each they
// hardly ever count as broken, and as a request each often.
func TestOneCauseExactly(t *testing.T) {
	t.Parallel()
	const seconds, rate = 600, 10
	o := Default()
	broken := func(seconds, bad int) bool {
		p := Period{Candidate: Counts{Requests: rate * seconds, Failed: rate * bad}, Seconds: []Second{}}
		for i := range seconds {
			one := Counts{Requests: rate}
			if i < bad {
				one.Failed = rate
			}
			p.Seconds = append(p.Seconds, Second{Candidate: one})
		}
		return o.Judge([]Period{p}, false).State == Broken
	}
	inRequests := func(seconds, bad int) bool {
		return o.Judge([]Period{{Candidate: Counts{Requests: rate * seconds, Failed: rate * bad}}}, false).State == Broken
	}
	alarm, before := ever(broken, 0.01, seconds), ever(inRequests, 0.01, seconds)
	t.Logf("all requests fail in 1 %% of %d seconds: broken in %.4f %%, and judged by each request in %.1f %%", seconds, alarm*100, before*100)
	if alarm > 0.0005 || alarm < 0.00001 || before < 0.1 {
		t.Errorf("broken with the chance %g, expected 0.0005 at most, and not nothing; by each request %g", alarm, before)
	}
}

// TestWhoseExactly has trouble of a second that hits one of both revisions, by a fair chance. Judged as a cause each the candidate is
// hardly ever called worse, and as a request each often.
func TestWhoseExactly(t *testing.T) {
	t.Parallel()
	const rate, bar = 10, 2000
	q := Default().questions()[0]
	worse := func(compare func(Period) []observation) func(troubles, candidates int) bool {
		return func(troubles, candidates int) bool {
			p := Period{Candidate: Counts{rate * troubles, rate * candidates, 0}, Old: &Counts{rate * troubles, rate * (troubles - candidates), 0}}
			for i := range troubles {
				one := Second{Candidate: Counts{Requests: rate}, Old: Counts{Requests: rate}}
				if i < candidates {
					one.Candidate.Failed = rate
				} else {
					one.Old.Failed = rate
				}
				p.Seconds = append(p.Seconds, one)
			}
			return againstOld([][]observation{compare(p)}).reaches(bar)
		}
	}
	alarm, before := ever(worse(q.besideInSeconds), 0.5, 300), ever(worse(q.beside), 0.5, 300)
	t.Logf("300 seconds of trouble: worse in %.4f %%, and judged by each request in %.1f %%", alarm*100, before*100)
	if alarm > 1.0/bar || alarm < 0.01/bar || before < 0.1 {
		t.Errorf("worse with the chance %g, expected %g at most, and not nothing; by each request %g", alarm, 1.0/bar, before)
	}
}

// ever is the chance that a candidate of which the share p fails is called broken
// after one of so many requests.
func ever(broken func(requests, failed int) bool, p float64, requests int) (chance float64) {
	undecided := []float64{1} // the chance of so many failures without having been called broken
	bound := 1                // so many failures are broken
	for n := 1; n <= requests; n++ {
		for bound <= n && !broken(n, bound) {
			bound++
		}
		undecided = oneMore(undecided, p)
		for len(undecided) > bound {
			chance += undecided[len(undecided)-1]
			undecided = undecided[:len(undecided)-1]
		}
	}
	return chance
}

// oneMore are the chances of each number of failures after one more request.
func oneMore(chances []float64, p float64) []float64 {
	next := make([]float64, len(chances)+1)
	for k, chance := range chances {
		next[k] += chance * (1 - p)
		next[k+1] += chance * p
	}
	return next
}

// TestMissedExactly computes the chance that a candidate that fails twice as often
// as permitted ever looks good with more than one failure, looked at after each
// of its requests.
func TestMissedExactly(t *testing.T) {
	t.Parallel()
	for _, success := range []float64{99, 90, 50} {
		q := Objective{Success: success}.questions()[0]
		const requests = 3000
		undecided, missed := []float64{1}, 0.0
		for n := 1; n <= requests; n++ {
			undecided = oneMore(undecided, twice(q.limit))
			for k := 2; k < len(undecided); k++ {
				if q.clear(portion{bad: k, requests: n}) {
					missed, undecided[k] = missed+undecided[k], 0
				}
			}
		}
		t.Logf("success>=%g%%, %.3g %% of 3,000 requests fail: looks good in %.2f %%", success, 100*twice(q.limit), missed*100)
		if missed > 0.05 || missed < 0.005 {
			t.Errorf("looks good with the chance %g, expected 0.05 at most, and not nothing", missed)
		}
	}
}

// TestFalseComparisonExactly computes the chance that one of two revisions that
// fail alike is ever called worse than the other, looked at after each request,
// from all ways in which these can fail. Within a period the bet is one of each
// look, whatever the shares are by then, so the order of the requests matters.
func TestFalseComparisonExactly(t *testing.T) {
	t.Parallel()
	const requests, bar = 400, 2000
	for name, candidates := range map[string]func(i int) bool{
		"one in ten":            func(i int) bool { return i%10 == 5 },
		"every other":           func(i int) bool { return i%2 == 0 },
		"forty by turns":        func(i int) bool { return i/40%2 == 0 },
		"the candidate's first": func(i int) bool { return i < requests/2 },
		"the old one's first":   func(i int) bool { return i >= requests/2 },
	} {
		for _, p := range []float64{0.02, 0.1} {
			alarm := everWorse(candidates, p, requests, bar)
			t.Logf("%s, %g %% of both fail: worse in %.4f %%", name, p*100, alarm*100)
			if alarm > 1.0/bar {
				t.Errorf("%s, %g %% of both fail: worse with the chance %g, expected %g at most", name, p*100, alarm, 1.0/bar)
			}
		}
	}
}

// everWorse is the chance that the evidence against the candidate is ever at the
// bar although the share p of both fails. Candidates tells whose each request is.
func everWorse(candidates func(i int) bool, p float64, requests int, bar float64) (chance float64) {
	undecided := [][]float64{{1}} // by failures of the old revision, then of the candidate
	bounds := make([]int, requests+1)
	var now Period
	now.Old = &Counts{}
	for i := range requests {
		if candidates(i) {
			now.Candidate.Requests++
			for m := range undecided {
				undecided[m] = oneMore(undecided[m], p)
			}
		} else {
			now.Old.Requests++
			undecided = oneMoreOld(undecided, p)
		}
		for m, chances := range undecided {
			bounds[m] = leastWorse(bounds[m], now, m, bar)
			for k := bounds[m]; k < len(chances); k++ {
				chance, chances[k] = chance+chances[k], 0
			}
		}
	}
	return chance
}

// oneMoreOld are the chances after one more request of the old revision. So many
// failures that they hardly ever come are left out.
func oneMoreOld(chances [][]float64, p float64) [][]float64 {
	const hardlyEver = 1e-12
	longest := slices.MaxFunc(chances, func(a, b []float64) int { return cmp.Compare(len(a), len(b)) })
	next := make([][]float64, len(chances)+1)
	for m := range next {
		next[m] = make([]float64, len(longest))
	}
	for m, row := range chances {
		for k, chance := range row {
			next[m][k] += chance * (1 - p)
			next[m+1][k] += chance * p
		}
	}
	for slices.Max(next[len(next)-1]) < hardlyEver {
		next = next[:len(next)-1]
	}
	return next
}

// leastWorse is how many failures of the candidate's requests are worse than so
// many of the old revision's. It looks from where that was last.
func leastWorse(from int, now Period, old int, bar float64) int {
	q := Default().questions()[0]
	worse := func(bad int) bool {
		now.Candidate.Failed, now.Old.Failed = bad, old
		return againstOld([][]observation{q.beside(now)}).reaches(bar)
	}
	for from > 1 && worse(from-1) {
		from--
	}
	for from <= now.Candidate.Requests && !worse(from) {
		from++
	}
	return from
}
