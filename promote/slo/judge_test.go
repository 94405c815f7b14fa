package slo

import (
	"math"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	errors := Objective{Success: 99, Requests: 50, From: Load}
	slow := Objective{Success: 99, Latency: 500 * time.Millisecond, Fast: 99, Requests: 50, From: Load}
	lenient := Objective{Success: 95, Requests: 50, From: Load}
	apart := func(candidate, old Range) []Period {
		return []Period{{Step: "50", Candidate: Counts{Requests: 300, Failed: 100}, Old: &Counts{Requests: 300}, Bounds: &Bounds{Candidate: candidate, Old: old}}}
	}
	alone := func(requests, failed, slow int) []Period {
		return []Period{{Step: "10", Candidate: Counts{requests, failed, slow}}}
	}
	beside := func(candidate, old Counts) []Period { return []Period{{Step: "10", Candidate: candidate, Old: &old}} }
	for name, test := range map[string]struct {
		objective Objective
		seen      []Period
		over      bool
		state     State
		rule      Rule
		reason    string
	}{
		"nothing":        {errors, nil, true, Undecided, "", "0 requests in this step, expected at least 50: too few to say"},
		"one":            {errors, alone(1, 0, 0), true, Undecided, "", "1 request in this step, expected at least 50: too few to say"},
		"good, too soon": {errors, alone(300, 0, 0), false, Undecided, "", "0 of 300 requests failed, the limit is 1 %"},
		"good":           {errors, alone(400, 2, 0), true, Kept, "", "2 of 400 requests failed (0.5 %), the limit is 1 %"},
		"may be 2 %":     {errors, alone(300, 2, 0), true, Undecided, "", "2 of 300 requests failed (0.67 %), the limit is 1 %, in all steps 2 of 300: a share of 2 % may look so by chance"},
		"one a step": {errors, []Period{{Step: "10", Candidate: Counts{Requests: 50, Failed: 1}}, {Step: "50", Candidate: Counts{Requests: 50, Failed: 1}}}, true, Undecided, "",
			"1 of 50 requests failed (2 %), the limit is 1 %, in all steps 2 of 100: a share of 2 % may look so by chance"},
		"one of few":     {errors, alone(50, 1, 0), true, Kept, "", "1 of 50 requests failed (2 %), the limit is 1 %"},
		"may be chance":  {errors, alone(300, 6, 0), true, Undecided, "", "6 of 300 requests failed (2 %), the limit is 1 %: more than the limit, but so few that it may be chance"},
		"broken":         {errors, alone(300, 14, 0), false, Broken, Success, "14 of 300 requests failed (4.67 %), the limit is 1 %: the chance that this is chance is at most 1 in 3,400"},
		"broken at once": {errors, alone(4, 4, 0), false, Broken, Success, "4 of 4 requests failed (100 %), the limit is 1 %: the chance that this is chance is less than 1 in a million"},
		"two are none":   {errors, alone(2, 2, 0), false, Undecided, "", "2 requests in this step, expected at least 50: too few to say"},
		"slow":           {slow, alone(1200, 0, 60), true, Broken, Latency, "60 of 1,200 requests took longer than 500ms (5 %), the limit is 1 %: the chance that this is chance is less than 1 in a million"},
		"both kept":      {slow, alone(1200, 1, 9), true, Kept, "", "1 of 1,200 requests failed (0.083 %), the limit is 1 %; 9 of 1,200 requests took longer than 500ms (0.75 %), the limit is 1 %"},
		"impossible":     {errors, alone(3, 5, 0), true, Undecided, "", "the counts of the candidate in step 10 cannot be: {Requests:3 Failed:5 Slow:0}"},
		"impossible old": {errors, beside(Counts{Requests: 300}, Counts{Requests: -1}), true, Undecided, "", "the counts of the old revision in step 10 cannot be: {Requests:-1 Failed:0 Slow:0}"},
		"old one good": {errors, beside(Counts{Requests: 300, Failed: 30}, Counts{Requests: 2700, Failed: 3}), false, Broken, Success,
			"30 of 300 requests failed (10 %), the limit is 1 %, of the old revision's 3 of 2,700 (0.11 %): the chance that this is chance is less than 1 in a million"},
		"some of the old one's are the candidate's": {errors, []Period{{Step: "10", Candidate: Counts{Requests: 300, Failed: 90}, Old: &Counts{Requests: 300, Failed: 9}, Shared: true}}, false, Broken, Success,
			"90 of 300 requests failed (30 %), the limit is 1 %, of all the Service's 9 of 300 (3 %): the chance that this is chance is less than 1 in a million"},
		"old one as bad": {errors, beside(Counts{Requests: 300, Failed: 30}, Counts{Requests: 2700, Failed: 270}), true, Undecided, "",
			"30 of 300 requests failed (10 %), the limit is 1 %, of the old revision's 270 of 2,700 (10 %): the candidate breaks it, but is not shown to be worse than the old revision"},
		"worse within the limit": {lenient, beside(Counts{Requests: 300, Failed: 9}, Counts{Requests: 2700, Failed: 3}), true, Broken, WorseThanStable,
			"9 of 300 requests failed (3 %), of the old revision's 3 of 2,700 (0.11 %): the chance that this is chance is at most 1 in 200,000"},
		"slower within the limit": {slow, beside(Counts{Requests: 1100, Slow: 9}, Counts{Requests: 9900, Slow: 1}), true, Kept, "",
			"0 of 1,100 requests failed, the limit is 1 %; 9 of 1,100 requests took longer than 500ms (0.82 %), the limit is 1 %"},
		"old one has no requests left": {errors, beside(Counts{Requests: 300, Failed: 30}, Counts{Requests: 3}), false, Broken, Success,
			"30 of 300 requests failed (10 %), the limit is 1 %, of the old revision's 0 of 3: the chance that this is chance is less than 1 in a million"},
		"bad at last": {errors, []Period{{Step: "10", Candidate: Counts{Requests: 6000}}, {Step: "50", Candidate: Counts{Requests: 6000}}, {Step: "100", Candidate: Counts{Requests: 10, Failed: 6}}}, false, Broken, Success,
			"6 of 10 requests failed (60 %) since step 100 began, the limit is 1 %: the chance that this is chance is less than 1 in a million"},
		"data end": {errors, []Period{{Step: "10", Candidate: Counts{Requests: 6000}}, {Step: "50", Candidate: Counts{Requests: 6}}}, true, Undecided, "",
			"6 requests in this step, expected at least 50: too few to say"},
		"minutes of a step": {errors, []Period{{Step: "10"}, {Step: "50", Candidate: Counts{Requests: 30}}, {Step: "50", Candidate: Counts{Requests: 30}}}, true, Kept, "",
			"0 of 60 requests failed, the limit is 1 %"},
		"an outage of both, the old one's not yet counted": {errors, apart(Range{Counts{Requests: 200}, Counts{Requests: 300, Failed: 100}}, Range{Counts{Requests: 200}, Counts{Requests: 300}}), false, Undecided, "",
			"100 of 300 requests failed (33.33 %), the limit is 1 %, of the old revision's 0 of 300: the candidate breaks it, but is not shown to be worse than the old revision"},
		"the old one has not failed since": {errors, apart(Range{Counts{Requests: 300, Failed: 100}, Counts{Requests: 400, Failed: 100}}, Range{Counts{Requests: 300}, Counts{Requests: 400}}), false, Broken, Success,
			"100 of 300 requests failed (33.33 %), the limit is 1 %, of the old revision's 0 of 300: the chance that this is chance is less than 1 in a million"},
		"an outage of both": {lenient, []Period{
			{Step: "10", Candidate: Counts{Requests: 300}, Old: &Counts{Requests: 2700}},
			{Step: "50", Candidate: Counts{Requests: 1500, Failed: 45}, Old: &Counts{Requests: 1500, Failed: 45}}}, true, Kept, "",
			"45 of 1,500 requests failed (3 %), the limit is 5 %"},
	} {
		got := test.objective.Judge(test.seen, test.over)
		if got.State != test.state || got.Rule != test.rule || got.Reason != test.reason {
			t.Errorf("%s: %s %s (e %.4g)\n got %s\nwant %s %s\n     %s", name, got.State, got.Rule, got.EValue, got.Reason, test.state, test.rule, test.reason)
		}
	}
}

// TestJudgeManyRequests looks that numbers of any size stay numbers.
func TestJudgeManyRequests(t *testing.T) {
	t.Parallel()
	for _, success := range []float64{0.000001, 1, 50, 99, 99.999999} {
		o := Objective{Success: success, Requests: 50, From: Load}
		for _, requests := range []int{0, 1, 1e3, 1e9} {
			for _, failed := range []int{0, requests / 1000, requests} {
				for _, old := range []*Counts{nil, {}, {Requests: requests, Failed: failed}, {Requests: 1e9}} {
					got := o.Judge([]Period{{Step: "10", Candidate: Counts{Requests: requests, Failed: failed}, Old: old}}, true)
					if math.IsNaN(got.EValue) || math.IsInf(got.EValue, 0) || got.EValue < 0 || got.State == "" || got.Reason == "" {
						t.Errorf("success>=%g%%, %d of %d, old %+v: %+v", success, failed, requests, old, got)
					}
					if bad := requests == 1e9 && failed == requests && (old == nil || old.Failed == 0); bad && success > 1 && got.State != Broken {
						t.Errorf("success>=%g%%, all of %d failed, old %+v: %+v", success, requests, old, got)
					}
				}
			}
		}
	}
}
