package inputs

import (
	"crypto/ed25519"
	"encoding/pem"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/crypto/ssh"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/compare"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/review"
	"github.com/acme/knative-promote/promote/slo"
	"github.com/acme/knative-promote/promote/source"
)

func read(t *testing.T, getenv func(string) string, args ...string) (Settings, error) {
	t.Helper()
	w, err := console.ReadWorkflow(getenv)
	if err != nil {
		t.Fatal(err)
	}
	return Read(Parse(args), getenv, w, pipeline.File{})
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := read(t, consoletest.Enough())
	if err != nil {
		t.Fatal(err)
	}
	const url = "https://github.com/acme/infra.git"
	want := Settings{
		Command: "promote",
		Target: plan.Target{
			Target: argo.Target{
				Service: "product-import", App: argo.App{Name: "product-import-production"},
				Source: argo.Source{RepoURL: url, Branch: "main", Path: "apps/product-import/overlays/production"},
			},
			Environment: "production", Overlay: "apps/product-import/overlays/production",
		},
		Promote: promote.Config{
			Settings:  plan.Settings{Steps: []plan.Step{{Percent: 100}}, CandidateTag: "candidate"},
			Gates:     gate.Settings{Wait: 10 * time.Minute, Probe: gate.Probe{Count: 3}, WaitForData: 5 * time.Minute},
			Preflight: promote.PreflightError, Wants: source.Wants{OnDrift: source.DriftWarn}, OnFailure: promote.RollBack, OnInconclusive: promote.Hold, OnCancel: promote.Hold,
			Mode: review.Push, Merge: review.Auto, MergeTimeout: 15 * time.Minute,
			ForgeKey: "B5690EEEBB952194",
		},
		Remote:    remote.Config{URL: url, Branch: "main"},
		Author:    gitops.Person{Name: "knative-promote", Email: "knative-promote@users.noreply.github.com"},
		Committer: gitops.Person{Name: "knative-promote", Email: "knative-promote@users.noreply.github.com"},
		Argo:      argo.Config{Server: "argocd.example.com", Token: "argo-secret"},
		Timeout:   30 * time.Minute,
		Commit:    "git", AsItStands: true,
		Check: CheckSettings{Format: "text", FailOn: "error"},
	}
	want.Promote.Targets = []plan.Target{want.Target}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(argo.Config{}, "Proxy"), cmpopts.IgnoreFields(promote.Config{}, "Guards"), cmpopts.IgnoreFields(Settings{}, "Reached"), cmpopts.IgnoreUnexported(Settings{}, SigningSettings{}, pipeline.Rules{})); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestEveryInput(t *testing.T) {
	t.Parallel()
	got, err := read(t, consoletest.Environment(
		"INPUT_COMMAND=check", "INPUT_SERVICE= product-import ", "INPUT_ENVIRONMENT=prod",
		"INPUT_IMAGE=\napp=ghcr.io/acme/app:v2\n\nsidecar:v1\n", "INPUT_REASON=too\nmany errors", "INPUT_ALSO=Deployment/worker,\nService/shop/cart",
		"INPUT_REPOSITORY=acme/infra", "INPUT_BRANCH=release/1", "INPUT_PATH=./apps/x/", "INPUT_TOKEN=git-secret", "INPUT_MODE=pull-request", "INPUT_MERGE=wait",
		"INPUT_AUTHOR-NAME=Bot", "INPUT_AUTHOR-EMAIL=bot@example.com",
		"INPUT_APPLICATION=argocd/app", "INPUT_PROJECT=shop", "ARGOCD_SERVER=https://argo.example.com:8443/", "ARGOCD_AUTH_TOKEN=argo-secret",
		"INPUT_ARGOCD_INSECURE=TRUE", "INPUT_ARGOCD-HEADERS=X-One: 1\nX-Two:2", "INPUT_ARGOCD-ROOT-PATH=argo-cd/",
		"INPUT_STEPS=10@5m, 50@90s\n100", "INPUT_CANDIDATE-TAG=next", "INPUT_KEEP-PREVIOUS=False",
		"INPUT_PROBE=/healthz?full=1 expect=204", "INPUT_PROBE-COUNT=7", "INPUT_PROBE-CONNECT=[::1]:8080",
		"INPUT_WARM-UP=/warm", "INPUT_COMPARE=/a\n/b json ignore=at",
		"INPUT_LOAD=/api?x=1 90/m", "INPUT_PROMETHEUS=http://prometheus:9090/x", "INPUT_PROMETHEUS-HEADERS=X-Scope-OrgID: shop", "INPUT_SLO=latency<=1s@95% requests>=9", "INPUT_WAIT-FOR-DATA=7m", "INPUT_ON-INCONCLUSIVE=pass",
		"INPUT_ANALYSIS=\nanalysis/rate.yaml at=candidate,50\n./b.yaml\n", "INPUT_ANALYSIS-ARGS=a=b=c\nd = e", "INPUT_ANALYSIS_SECRETS=s/k=v",
		"INPUT_ON-FAILURE=hold", "INPUT_ON-CANCEL=rollback", "INPUT_WINDOWS=./prod/windows.yaml", "INPUT_DRY-RUN=true", "INPUT_TIMEOUT=3600s", "INPUT_WAIT-TIMEOUT=90s",
		"INPUT_PREFLIGHT=warn", "INPUT_SKIP-CHECKS=not-looked-at,\napplication-unreadable", "INPUT_FORMAT=sarif", "INPUT_OUTPUT=out/findings.sarif", "INPUT_FAIL-ON=never",
		"GITHUB_TOKEN=hub-secret", "INPUT_PULL-REQUEST=42",
		"GITHUB_SERVER_URL=https://ghe.example.com", "GITHUB_REPOSITORY=acme/shop", "GITHUB_RUN_ID=99", "GITHUB_ACTOR=mona",
	))
	if err != nil {
		t.Fatal(err)
	}
	images := make([]kustomize.Image, 2)
	for i, arg := range []string{"app=ghcr.io/acme/app:v2", "sidecar:v1"} {
		if images[i], err = kustomize.ParseImage(arg); err != nil {
			t.Fatal(err)
		}
	}
	const url = "https://ghe.example.com/acme/infra.git"
	want := Settings{
		Command: "check",
		Target: plan.Target{
			Target: argo.Target{
				Service: "product-import", App: argo.App{Namespace: "argocd", Name: "app", Project: "shop"},
				Source: argo.Source{RepoURL: url, Branch: "release/1", Path: "apps/x"},
			},
			Environment: "prod", Overlay: "apps/x",
		},
		Promote: promote.Config{
			Settings: plan.Settings{Also: []string{"Deployment/worker", "Service/shop/cart"}, Steps: []plan.Step{{Percent: 10, Bake: 5 * time.Minute}, {Percent: 50, Bake: 90 * time.Second}, {Percent: 100}}, CandidateTag: "next", RunURL: "https://ghe.example.com/acme/shop/actions/runs/99", Actor: "mona"},
			Images:   images, Wants: source.Wants{OnDrift: source.DriftWarn},
			Gates: gate.Settings{
				Wait:    90 * time.Second,
				Probe:   gate.Probe{Path: "/healthz?full=1", Expect: 204, Count: 7},
				WarmUp:  "/warm",
				Compare: []compare.Question{{Path: "/a", Status: true, Count: 20}, {Path: "/b", JSON: true, Ignore: []string{"at"}, Count: 20}},
				Load:    requests.Load{Path: "/api?x=1", Rate: 1.5},
				Route:   requests.Route{Connect: "[::1]:8080"},
				SLO:     slo.Objective{Latency: time.Second, Fast: 95, Requests: 9, From: slo.Load}, WaitForData: 7 * time.Minute,
				Analysis: analysis.Inputs{
					Entries: []analysis.Entry{{File: "analysis/rate.yaml", At: []int{0, 50}}, {File: "b.yaml"}},
					Args:    map[string]string{"a": "b=c", "d": "e"}, Secrets: map[string]string{"s/k": "v"}, Prometheus: "http://prometheus:9090/x", Connect: "[::1]:8080",
				}},
			OnInconclusive: promote.GoOn,
			Mode:           review.Every, Merge: review.Wait, MergeTimeout: 15 * time.Minute,
			Guards:    guard.Settings{Windows: "prod/windows.yaml"},
			Preflight: promote.PreflightWarn, Skip: []string{"not-looked-at", "application-unreadable"},
			OnFailure: promote.Hold, OnCancel: promote.RollBack,
		},
		Remote:    remote.Config{URL: url, Branch: "release/1", Token: "git-secret"},
		Author:    gitops.Person{Name: "Bot", Email: "bot@example.com"},
		Committer: gitops.Person{Name: "Bot", Email: "bot@example.com"},
		Argo: argo.Config{Server: "argo.example.com:8443", Token: "argo-secret", RootPath: "/argo-cd", Insecure: true,
			Headers: map[string][]string{"X-One": {"1"}, "X-Two": {"2"}}},
		Prometheus:  prometheus.Config{Address: "http://prometheus:9090/x", Headers: map[string][]string{"X-Scope-Orgid": {"shop"}}},
		Commit:      "git",
		Unused:      []string{"reason", "dry-run"}, // a check has no use for them
		GitHubToken: "hub-secret", PullRequest: 42, Timeout: time.Hour, Check: CheckSettings{Format: "sarif", Output: "out/findings.sarif", FailOn: "never"},
	}
	want.Promote.Targets = []plan.Target{want.Target}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(argo.Config{}, "Proxy"), cmpopts.IgnoreFields(promote.Config{}, "Guards"), cmpopts.IgnoreFields(Settings{}, "Reached"), cmpopts.IgnoreUnexported(Settings{}, SigningSettings{}, pipeline.Rules{})); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"default", nil, nil, "candidate"},
		{"empty is not set", []string{"INPUT_CANDIDATE-TAG="}, []string{"--candidate-tag="}, "candidate"},
		{"blank is not set", []string{"INPUT_CANDIDATE-TAG= \n"}, nil, "candidate"},
		{"runner's name", []string{"INPUT_CANDIDATE-TAG=one"}, nil, "one"},
		{"shell's name", []string{"INPUT_CANDIDATE_TAG=two"}, nil, "two"},
		{"runner's before shell's", []string{"INPUT_CANDIDATE-TAG=one", "INPUT_CANDIDATE_TAG=two"}, nil, "one"},
		{"flag first", []string{"INPUT_CANDIDATE-TAG=one"}, []string{"--candidate-tag", "three"}, "three"},
		{"flag behind the command", nil, []string{"promote", "--candidate-tag=three"}, "three"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := read(t, consoletest.Enough(test.env...), test.args...)
			if err != nil || s.Promote.CandidateTag != test.want {
				t.Errorf("tag %q, error %v; want %q", s.Promote.CandidateTag, err, test.want)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env  string
		args []string
		want string
	}{
		{"", nil, "promote"},
		{"INPUT_COMMAND=history", nil, "history"},
		{"INPUT_COMMAND=history", []string{"rollback", "--to", "product-import-8a71e0c4"}, "rollback"},
		{"INPUT_IMAGE=", []string{"--dry-run", "rollback"}, "rollback"},
		{"", []string{"--command", "diff"}, "diff"},
	} {
		s, err := read(t, consoletest.Enough(test.env), test.args...)
		if err != nil || string(s.Command) != test.want {
			t.Errorf("%s %v: command %q, error %v; want %q", test.env, test.args, s.Command, err, test.want)
		}
	}
}

func TestRepositoryOverSSH(t *testing.T) {
	t.Parallel()
	s, err := read(t, consoletest.Enough("INPUT_SSH-KEY="+testKey))
	if want := "ssh://git@github.com/acme/infra.git"; err != nil || s.Remote.URL != want {
		t.Errorf("repository %q, error %v; want %q", s.Remote.URL, err, want)
	}
}

func TestDiffOfPullRequestNeedsNothing(t *testing.T) {
	t.Parallel()
	s, err := read(t, consoletest.Environment("INPUT_COMMAND=diff", "GITHUB_REPOSITORY=acme/infra"))
	if want := "https://github.com/acme/infra.git"; err != nil || s.Remote.URL != want {
		t.Errorf("repository %q, error %v; want %q", s.Remote.URL, err, want)
	}
}

// TestCheckOfPullRequest needs the overlay's folder, and nothing of Argo CD.
func TestCheckOfPullRequest(t *testing.T) {
	t.Parallel()
	s, err := read(t, consoletest.Environment("INPUT_COMMAND=check", "INPUT_PATH=apps/x", "GITHUB_REPOSITORY=acme/infra"))
	if want := "https://github.com/acme/infra.git"; err != nil || s.Remote.URL != want || !s.Checkout {
		t.Errorf("repository %q, checkout %t, error %v; want %q and the checkout", s.Remote.URL, s.Checkout, err, want)
	}
}

// testKey is a deploy key, and lockedKey the same with a passphrase.
var testKey, lockedKey = keyWith(""), keyWith("x")

func keyWith(passphrase string) string {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	block, err := ssh.MarshalPrivateKey(key, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(block))
}

// TestPassphraseWithBlanks has one that begins and ends with blanks, with the end
// of the line that a file adds.
func TestPassphraseWithBlanks(t *testing.T) {
	t.Parallel()
	const passphrase = "  correct horse "
	_, err := read(t, consoletest.Enough("INPUT_SIGNING-KEY="+keyWith(passphrase), "INPUT_SIGNING-PASSPHRASE="+passphrase+"\n"))
	if err != nil {
		t.Error(err)
	}
}
