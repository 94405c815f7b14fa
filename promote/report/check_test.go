package report

import (
	"encoding/json"
	"testing"

	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/event"
)

func TestCheckSummary(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/check/*.txtar", "summary.md", func(t *testing.T, parts map[string][]byte) string {
		var r struct {
			Service  string
			Looked   []string `json:"looked-at"`
			Findings []event.Finding
		}
		if err := json.Unmarshal(parts["report.json"], &r); err != nil {
			t.Fatal(err)
		}
		page := CheckSummary(r.Service, r.Findings, r.Looked)
		checkPage(t, page, summaryRoom)
		return page
	})
}
