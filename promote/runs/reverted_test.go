package runs

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// history are commits behind the tip, the oldest first, by the records that they have.
type history []record.Record

func (h history) At(ctx context.Context, commit string) (gitops.Snapshot, error) {
	n, err := strconv.Atoi(commit)
	if err != nil {
		return gitops.Snapshot{}, err
	}
	return commits{commit: h[n]}.At(ctx, commit)
}

func (h history) Behind(context.Context, string, gitops.Trailer, string) (all []gitops.Message, err error) {
	for n, r := range slices.Backward(h) {
		one := gitops.Message{Commit: strconv.Itoa(n), Tip: strconv.Itoa(n), Values: []string{r.Promotion}}
		all = append(all, one)
	}
	return all, nil
}

// TestReverted has what commits have made of an overlay, and what Git shows of it now.
func TestReverted(t *testing.T) {
	t.Parallel()
	of := func(promotion, step string, past ...record.Record) record.Record {
		r := record.Record{Overlay: "web", Promotion: strings.Repeat(promotion, 12), Step: step, To: record.Version{Revision: "web-v" + promotion}}
		r.Percent = record.ShareOf(step)
		r.Reached, r.Started = r.Percent, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		if len(past) > 0 {
			return r.Follow(past[0])
		}
		return r
	}
	one := of("1", "100")
	half, whole := of("2", "50", one), of("2", "100", one)
	three := of("3", "100", whole)
	for name, test := range map[string]struct {
		commits history
		now     record.Record
		want    string // promotions that Git shows no more, or less of, the newest first
	}{
		"none":                             {history{one, half, whole}, whole, ""},
		"in the middle":                    {history{one, half}, half, ""},
		"its last step":                    {history{one, half, whole}, half, "2 later=false"},
		"a promotion":                      {history{one, half, whole}, one, "2 later=true"},
		"two promotions":                   {history{one, half, whole, three}, one, "3 later=true, 2 later=true"},
		"promoted again":                   {history{one, half, whole, of("3", "100", one)}, of("3", "100", one), "2 later=false"},
		"restored":                         {history{one, half, of("2", record.Restore, one)}, of("2", record.Restore, one), ""},
		"all of them":                      {history{one}, record.Record{}, "1 later=true"},
		"a step, and a rollback to before": {history{one, half, whole, of("2", record.Rollback, one)}, of("2", record.Rollback, one), ""},
	} {
		at := plan.Situation{Target: plan.Target{Target: argo.Target{Service: "web"}, Overlay: "web"}, Record: test.now}
		var got []string
		all, err := Reverted(t.Context(), test.commits, at)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, r := range all {
			got = append(got, r.Promotion[:1]+" later="+strconv.FormatBool(r.Later))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %q, want %q", name, strings.Join(got, ", "), test.want)
		}
	}
}
