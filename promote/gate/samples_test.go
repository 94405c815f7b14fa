package gate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/slo"
)

// TestBounds has two revisions that are scraped at different moments. Whenever one
// looks, the true counts of a period are between its bounds: what is held against
// the candidate has failed within the period or in the while before that counts
// for the old revision too.
func TestBounds(t *testing.T) {
	t.Parallel()
	const late, length = 20, 400 // seconds
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(3, seed))
		at := func(second int) time.Time { return time.Unix(int64(1000+second), 0) }
		var truth, seen [2][length]slo.Counts // by second
		for revision := range truth {
			phase, every := random.IntN(15), 5+random.IntN(11)
			for second := 1; second < length; second++ {
				truth[revision][second] = truth[revision][second-1]
				truth[revision][second].Requests += random.IntN(9)
				if second/30%3 == 0 { // an outage of both
					truth[revision][second].Failed = truth[revision][second].Requests - truth[revision][second-1].Requests + truth[revision][second-1].Failed
				}
				if seen[revision][second] = seen[revision][second-1]; second%every == phase%every {
					seen[revision][second] = truth[revision][second]
				}
			}
		}
		since := func(of [length]slo.Counts, from, to int) slo.Counts { return of[to].Since(of[from]) }
		l := &samples{late: late * time.Second, all: []sample{{at: at(40 - late)}}, opened: []time.Time{at(40)}}
		for second := 40; second < length; second += 2 {
			old := since(seen[1], 40-late, second)
			l.all = append(l.all, sample{at(second), counts{candidate: since(seen[0], 40-late, second), old: &old}})
			for i, s := range l.periods() {
				began, ended := int(l.opened[i].Unix())-1000, second
				if i+1 < len(l.opened) {
					ended = int(l.opened[i+1].Unix()) - 1000
				}
				sure := min(ended, second-late) // by then both have been counted
				b := s.Bounds
				switch {
				case sure < began && b.Candidate.Least == slo.Counts{} && b.Old.Least == slo.Counts{}:
				case b.Candidate.Least.Failed > since(truth[0], began-late, sure).Failed,
					b.Old.Most.Failed < since(truth[1], began-late, sure).Failed,
					b.Candidate.Most.Requests < since(truth[0], began, sure).Requests,
					b.Old.Least.Requests > since(truth[1], began-late, sure).Requests,
					b.Within.Failed > since(truth[0], began, ended).Failed:
					t.Fatalf("seed %d, period from %d to %d, looked at in second %d: %+v is beyond what is true", seed, began, ended, second, b)
				}
			}
			l.open()
		}
		if len(l.opened) < 4 {
			t.Fatalf("%d periods in %d seconds", len(l.opened), length)
		}
	}
}
