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
		if got := revertedIn(t, test.commits, test.now); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// revertedIn are the promotions that a record shows no more, or less of, the newest first.
func revertedIn(t *testing.T, behind Commits, now record.Record) string {
	t.Helper()
	at := plan.Situation{Target: plan.Target{Target: argo.Target{Service: "web"}, Overlay: "web"}, Record: now}
	all, err := Reverted(t.Context(), behind, at)
	if err != nil {
		t.Error(err)
	}
	var got []string
	for _, r := range all {
		got = append(got, r.Promotion[:1]+" later="+strconv.FormatBool(r.Later))
	}
	return strings.Join(got, ", ")
}

// messages are commits behind the tip, the newest first, some of which say what they have not.
type messages []struct {
	record record.Record
	says   string // a promotion
	time   time.Time
}

func (m messages) At(ctx context.Context, commit string) (gitops.Snapshot, error) {
	n, err := strconv.Atoi(commit)
	if err != nil {
		return gitops.Snapshot{}, err
	}
	return commits{commit: m[n].record}.At(ctx, commit)
}

func (m messages) Behind(context.Context, string, gitops.Trailer, string) (all []gitops.Message, err error) {
	for n, one := range m {
		all = append(all, gitops.Message{Commit: strconv.Itoa(n), Tip: strconv.Itoa(n), Time: one.time, Values: []string{one.says}})
	}
	return all, nil
}

// TestRevertedBesideForgedMessages has a promotion that was reverted, in a branch so busy that the
// commits of the one before it are too far behind to be asked for, and commits that say to be those.
func TestRevertedBesideForgedMessages(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	of := func(promotion string, started time.Time) record.Record {
		return record.Record{Overlay: "web", Promotion: strings.Repeat(promotion, 12), Step: "100", Percent: 100, Reached: 100, Started: started, To: record.Version{Revision: "web-v" + promotion}}
	}
	shown, gone, before := of("1", noon), of("2", noon.Add(time.Hour)), of("0", noon.Add(-time.Hour))
	cut := shown
	cut.Cut = true
	for name, test := range map[string]struct {
		now  record.Record
		with messages
		want string
	}{
		"nothing of what is shown":        {cut, messages{{gone, gone.Promotion, gone.Started}}, "2 later=true"},
		"a message of what is shown":      {cut, messages{{shown, shown.Promotion, noon.Add(2 * time.Hour)}, {gone, gone.Promotion, gone.Started}}, "2 later=true"},
		"what the record has forgotten":   {cut, messages{{shown, shown.Promotion, noon}, {before, before.Promotion, before.Started}}, ""},
		"and a commit of it that is new":  {cut, messages{{shown, shown.Promotion, noon}, {before, before.Promotion, noon.Add(time.Hour)}}, ""},
		"no record, and an empty message": {record.Record{}, messages{{record.Record{}, "", noon.Add(2 * time.Hour)}, {gone, gone.Promotion, gone.Started}}, "2 later=true"},
	} {
		if got := revertedIn(t, test.with, test.now); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// TestTakenOutOfACutRecord has promotions of one run, of which the record forgets the oldest: the times have whole seconds.
func TestTakenOutOfACutRecord(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	now := record.Record{Overlay: "web", Promotion: "000000000001", Step: "100", Run: "run", Started: noon, To: record.Version{Revision: "web-v1"}}
	for _, test := range []struct {
		cut   bool
		began time.Time
		gone  bool
	}{{false, noon, true}, {true, noon.Add(-time.Second), false}, {true, noon, false}, {true, noon.Add(time.Second), true}} {
		now.Cut = test.cut
		made := record.Record{Overlay: "web", Promotion: "000000000002", Step: "100", Run: "run", Started: test.began}
		if err := takenOut(now, made, "run", false); (err != nil) != test.gone {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
