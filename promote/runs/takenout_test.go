package runs

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// commits are the records that commits have, by the commits' hashes.
type commits map[string]record.Record

func (c commits) At(_ context.Context, commit string) (gitops.Snapshot, error) {
	r, there := c[commit]
	if !there {
		return gitops.Snapshot{}, errors.New("it is gone")
	}
	text, err := r.Encode()
	if err != nil {
		return gitops.Snapshot{}, err
	}
	file := "# Written by knative-promote\n# " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n# ") + "\n"
	return gitops.Snapshot{Tree: fstest.MapFS{"web/knative-promote-web.yaml": {Data: []byte(file)}}}, nil
}

func (c commits) Behind(context.Context, string, gitops.Trailer, string) ([]gitops.Message, error) {
	return nil, nil
}

// TestLastTakenOut has what Argo CD has deployed before, and what Git shows now.
func TestLastTakenOut(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	of := func(promotion, step string) record.Record {
		percent, _ := strconv.Atoi(step) // a restore has none
		var past []record.Entry
		if promotion != "222222222222" {
			past = []record.Entry{{Ended: record.Promoted, Promotion: "222222222222", Reached: 100, Started: noon.Add(-time.Hour), To: record.Version{Revision: "web-v2"}}}
		}
		return record.Record{Past: past, Overlay: "web", Promotion: promotion, Step: step, Percent: percent, Reached: percent, Started: noon, To: record.Version{Revision: "web-v2"}}
	}
	known := commits{"v2": of("222222222222", "100"), "v3": of("333333333333", "50"), "back": of("333333333333", record.Restore), "reverted": of("222222222222", "100"), "failed": of("444444444444", record.Restore)}
	failed := known["failed"]
	failed.Commit = "failed"
	known["failed"] = failed
	for _, test := range []struct {
		name     string
		deployed []string // the newest last, one an hour
		now      record.Record
		since    time.Time
		want     string
	}{
		{"nothing", []string{"v2"}, known["v2"], noon, ""},
		{"reverted and deployed", []string{"v2", "v3", "reverted"}, known["v2"], noon.Add(2 * time.Hour), "333333333333"},
		{"reverted and deployed earlier", []string{"v2", "v3", "reverted"}, known["v2"], noon.Add(3 * time.Hour), ""},
		{"reverted and deployed earlier, and again", []string{"v2", "v3", "reverted", "reverted", "reverted"}, known["v2"], noon.Add(3 * time.Hour), ""},
		{"reverted and not deployed yet", []string{"v2", "v3"}, known["v2"], noon.Add(3 * time.Hour), "333333333333"},
		{"reverted, and another one has failed", []string{"v2", "v3", "reverted", "failed"}, known["failed"], noon.Add(2 * time.Hour), "333333333333"},
		{"still there", []string{"v2", "v3"}, known["v3"], noon, ""},
		{"rolled back", []string{"v2", "v3", "back"}, known["back"], noon, ""},
		{"gone", []string{"v2", "lost"}, known["v2"], noon, ""},
	} {
		app := &v1alpha1.Application{}
		for i, commit := range test.deployed {
			app.Status.History = append(app.Status.History, v1alpha1.RevisionHistory{Revision: commit, DeployedAt: metav1.NewTime(noon.Add(time.Duration(i) * time.Hour))})
		}
		at := plan.Situation{Target: plan.Target{Target: argo.Target{Service: "web"}, Overlay: "web"}, App: app, Record: test.now}
		if taken := LastTakenOut(t.Context(), known, at, test.since); taken.Promotion != test.want {
			t.Errorf("%s: got promotion %q, want %q", test.name, taken.Promotion, test.want)
		}
	}
}
