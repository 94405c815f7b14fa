package console

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/acme/knative-promote/internal/fake/consoletest"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	const fork = "a fork's pull request"
	for _, test := range []struct {
		name, event string
		want        Workflow
	}{
		{"push", `{"ref":"refs/heads/main"}`, Workflow{}},
		{"pull request", `{"number":7,"pull_request":{"number":7,"base":{"sha":"b","repo":{"id":1}},"head":{"sha":"h","repo":{"id":1}}}}`,
			Workflow{PullRequest: 7, Base: "b", Head: "h"}},
		{"pull request with its branches", `{"pull_request":{"number":7,"state":"open","base":{"ref":"main","repo":{"id":1}},"head":{"ref":"more","repo":{"id":1}}}}`,
			Workflow{PullRequest: 7, BaseRef: "main", HeadRef: "more"}},
		{"closed pull request", `{"pull_request":{"number":7,"state":"closed","base":{"repo":{"id":1}},"head":{"repo":{"id":1}}}}`, Workflow{PullRequest: 7, Closed: true}},
		{"from a fork", `{"pull_request":{"number":7,"base":{"sha":"b","repo":{"id":1}},"head":{"sha":"h","repo":{"id":2}}}}`,
			Workflow{PullRequest: 7, Base: "b", Head: "h", OfFork: true, Unmerged: fork}},
		{"from a deleted fork", `{"pull_request":{"number":7,"base":{"sha":"b","repo":{"id":1}},"head":{"sha":"h","repo":null}}}`,
			Workflow{PullRequest: 7, Base: "b", Head: "h", OfFork: true, Unmerged: fork}},
		{"from no branch, by who may read alone", `{"pull_request":{"number":7,"base":{"ref":"main","repo":{"id":1}},"head":{"ref":"refs/pull/7/head","repo":{"id":1}}}}`,
			Workflow{PullRequest: 7, BaseRef: "main", HeadRef: "refs/pull/7/head", OfFork: true, Unmerged: fork}},
		{"merged from no branch", `{"pull_request":{"number":7,"merged":true,"base":{"repo":{"id":1}},"head":{"ref":"refs/pull/7/head","repo":{"id":1}}}}`,
			Workflow{PullRequest: 7, HeadRef: "refs/pull/7/head"}},
		{"workflow run of no branch", `{"repository":{"id":1},"workflow_run":{"pull_requests":[],"head_branch":"refs/pull/7/head","head_repository":{"id":1}}}`, Workflow{Unmerged: "a fork's commit"}},
		{"merged from a fork", `{"pull_request":{"number":7,"merged":true,"base":{"sha":"b","repo":{"id":1}},"head":{"sha":"h","repo":{"id":2}}}}`,
			Workflow{PullRequest: 7, Base: "b", Head: "h"}},
		{"review of what was merged", `{"review":{},"pull_request":{"number":7,"merged_at":"2026-01-01T00:00:00Z","base":{"repo":{"id":1}},"head":{"repo":{"id":2}}}}`,
			Workflow{PullRequest: 7}},
		{"review of a fork's", `{"review":{},"pull_request":{"number":7,"merged_at":null,"base":{"repo":{"id":1}},"head":{"repo":{"id":2}}}}`,
			Workflow{PullRequest: 7, OfFork: true, Unmerged: fork}},
		{"comment on a pull request", `{"issue":{"number":8,"pull_request":{"url":"x"}}}`, Workflow{PullRequest: 8, Untold: true}},
		{"comment on an issue", `{"issue":{"number":8}}`, Workflow{}},
		{"workflow run", `{"workflow_run":{"pull_requests":[{"number":9,"base":{"sha":"b","repo":{"id":1}},"head":{"sha":"h","repo":{"id":1}}}]}}`,
			Workflow{PullRequest: 9, Base: "b", Head: "h"}},
		{"workflow run of a push", `{"repository":{"id":1},"workflow_run":{"pull_requests":[],"head_repository":{"id":1}}}`, Workflow{}},
		{"workflow run of a fork", `{"repository":{"id":1},"workflow_run":{"pull_requests":[],"head_repository":{"id":2}}}`, Workflow{Unmerged: "a fork's commit"}},
		{"workflow run of a deleted fork", `{"repository":{"id":1},"workflow_run":{"pull_requests":[],"head_repository":null}}`, Workflow{Unmerged: "a fork's commit"}},
		{"workflow run of a fork with another's pull request", `{"repository":{"id":1},"workflow_run":{"head_repository":{"id":2},"pull_requests":[
			{"number":9,"base":{"repo":{"id":1}},"head":{"repo":{"id":1}}}]}}`, Workflow{PullRequest: 9, Unmerged: "a fork's commit"}},
		{"workflow run with a fork's among several", `{"repository":{"id":1},"workflow_run":{"head_repository":{"id":1},"pull_requests":[
			{"number":9,"base":{"repo":{"id":1}},"head":{"repo":{"id":1}}},{"number":10,"base":{"repo":{"id":1}},"head":{"repo":{"id":2}}}]}}`,
			Workflow{PullRequest: 9, OfFork: true, Unmerged: fork}},
		{"workflow run of a commit that a fork wants too", `{"repository":{"id":1},"workflow_run":{"head_repository":{"id":1},"pull_requests":[
			{"number":9,"base":{"repo":{"id":2}},"head":{"repo":{"id":1}}}]}}`, Workflow{}},
		{"check suite", `{"repository":{"id":1},"check_suite":{"head_branch":"main","pull_requests":[]}}`, Workflow{}},
		{"check suite of a fork", `{"repository":{"id":1},"check_suite":{"head_branch":null,"pull_requests":[]}}`, Workflow{Unmerged: "a fork's commit"}},
		{"check run of a fork", `{"repository":{"id":1},"check_run":{"check_suite":{"head_branch":null,"pull_requests":[]}}}`, Workflow{Unmerged: "a fork's commit"}},
		{"check run with a fork's", `{"repository":{"id":1},"check_run":{"check_suite":{"head_branch":"x","pull_requests":[
			{"number":9,"base":{"repo":{"id":1}},"head":{"repo":{"id":2}}}]}}}`, Workflow{PullRequest: 9, OfFork: true, Unmerged: fork}},
		{"status", `{"repository":{"id":1},"branches":[{"name":"main"}]}`, Workflow{}},
		{"status of a fork's commit", `{"repository":{"id":1},"branches":[]}`, Workflow{Unmerged: "a fork's commit"}},
		{"deployment", `{"repository":{"id":1},"deployment":{"sha":"d","ref":"main"}}`, Workflow{Deployed: "d"}},
		{"status of a deployment", `{"repository":{"id":1},"deployment_status":{"state":"success"},"deployment":{"sha":"d"},"workflow_run":null}`, Workflow{Deployed: "d"}},
		{"deployment by a fork's workflow", `{"repository":{"id":1},"deployment":{"sha":"d"},"workflow_run":{"head_repository":{"id":2}}}`,
			Workflow{Deployed: "d", Unmerged: "a fork's commit"}},
		{"deployment of no commit", `{"repository":{"id":1},"deployment":{}}`, Workflow{Deployed: "unnamed"}},
		{"merge queue", `{"repository":{"id":1},"merge_group":{"head_sha":"h"}}`, Workflow{Unmerged: "a merge queue's commit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.want.ServerURL, test.want.APIURL = "https://github.com", "https://api.github.com"
			got, err := ReadWorkflow(consoletest.Environment("GITHUB_EVENT_PATH=" + writeEvent(t, test.event)))
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Workflow{}, "Workspace")); diff != "" || err != nil {
				t.Errorf("workflow (-want +got):\n%s\nerror: %v", diff, err)
			}
		})
	}
}

func writeEvent(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBadEvent(t *testing.T) {
	t.Parallel()
	file := writeEvent(t, "{")
	w, err := ReadWorkflow(consoletest.Environment("GITHUB_ACTOR=mona", "GITHUB_EVENT_PATH="+file))
	if want := "reading the event " + file + ": unexpected end of JSON input"; err == nil || err.Error() != want || w.Unread != want || w.Actor != "mona" {
		t.Errorf("actor %q, error %v; want %s", w.Actor, err, want)
	}
}

// TestUnknownEvents are closed: nobody knows whose commit such a workflow runs for. Those of the
// repository itself are not.
func TestUnknownEvents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "push": "", "schedule": "", "workflow_dispatch": "", "release": "", "repository_dispatch": "", "issues": "",
		"preview": "the event preview is not known",
	} {
		w, err := ReadWorkflow(consoletest.Environment("GITHUB_EVENT_NAME="+name, "GITHUB_EVENT_PATH="+writeEvent(t, `{"repository":{"id":1}}`)))
		if w.Unread != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, w.Unread, err, want)
		}
	}
	w, err := ReadWorkflow(consoletest.Environment("GITHUB_EVENT_NAME=preview", "GITHUB_EVENT_PATH="+writeEvent(t, `{"pull_request":{"number":7}}`)))
	if w.Unread != "" || err != nil {
		t.Errorf("of a pull request: %q, %v", w.Unread, err)
	}
}
