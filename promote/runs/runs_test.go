package runs

import (
	"testing"

	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

func TestNewerRun(t *testing.T) {
	t.Parallel()
	const server = "https://github.com/acme/"
	for _, test := range []struct {
		run, than string
		want      bool
	}{
		{server + "web/actions/runs/10", server + "web/actions/runs/9", true},
		{server + "infra/actions/runs/10", server + "web/actions/runs/9", true},
		{"https://gitlab.example.com/acme/web/-/pipelines/10", "https://gitlab.example.com/acme/infra/-/pipelines/9", true},
		{"https://gitlab.example.com/acme/web/-/pipelines/9", "https://gitlab.example.com/acme/web/-/pipelines/10", false},
		{server + "web/actions/runs/9", server + "web/actions/runs/10", false},
		{server + "web/actions/runs/9", server + "web/actions/runs/9", false},
		{"https://elsewhere.example.com/acme/web/actions/runs/10", server + "web/actions/runs/9", false},
		{"", server + "web/actions/runs/9", false},
		{server + "web/actions/runs/10", "", false},
		{server + "web/actions/runs/99999999999999999999", server + "web/actions/runs/9", false},
	} {
		if got := Newer(test.run, test.than); got != test.want {
			t.Errorf("Newer(%q, %q) = %t", test.run, test.than, got)
		}
	}
}

// TestOlderThanPrepared has a candidate that came by a pull request and that no run has gone on with: whatever it says of a
// run, none is older. One that a run has made is.
func TestOlderThanPrepared(t *testing.T) {
	t.Parallel()
	const run = "https://github.com/acme/web/actions/runs/"
	for _, test := range []struct {
		pull    int
		percent int
		older   bool
	}{{12, 0, false}, {12, 10, true}, {0, 0, true}} {
		at := plan.Situation{Record: record.Record{Promotion: "000000000001", Run: run + "99", Pull: test.pull, Percent: test.percent, To: record.Version{Revision: "web-v1"}}}
		if err := Superseded(at, run+"7", true); (err != nil) != test.older {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
