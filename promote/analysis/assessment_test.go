package analysis

import (
	"testing"

	"github.com/acme/knative-promote/promote/analysis/condition"
)

// TestWorst holds the order of what several metrics come to.
func TestWorst(t *testing.T) {
	t.Parallel()
	const failed, wrong, inconclusive, good = condition.Failed, condition.Error, condition.Inconclusive, condition.Successful
	for _, test := range []struct {
		phases []condition.Phase
		want   condition.Phase
	}{
		{[]condition.Phase{good, Skipped}, good},
		{[]condition.Phase{good, inconclusive}, inconclusive},
		{[]condition.Phase{inconclusive, wrong, good}, wrong},
		{[]condition.Phase{wrong, failed, inconclusive}, failed},
		{[]condition.Phase{failed, wrong}, failed},
	} {
		var metrics []Measured
		for _, phase := range test.phases {
			metrics = append(metrics, Measured{Phase: phase})
		}
		if got := assess(metrics); got.Phase != test.want {
			t.Errorf("%v is %s, expected %s", test.phases, got.Phase, test.want)
		}
	}
}
