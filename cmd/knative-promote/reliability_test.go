package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// replays are bugs that others had in public, and the test, or the script, that
// would find them here.
var replays = map[string][]string{
	"fluxcd/image-automation-controller#939: pushes of several regions delayed by each other": {"TestContention"},
	"fluxcd/flux2#4715: object not found on push":                                             {"TestPublishAfterLostRace", "TestPublishAfterForcePush"},
	"argoproj/argo-rollouts#3589: weights of -25 and 125":                                     {"FuzzRoute", "TestScripts"},
	"argoproj/argo-rollouts#4841: an aborted rollout leaves a weight":                         {"broken-image-rolled-back", "bake-fails-rolled-back"},
	"fluxcd/flagger#1588: stuck promoting, not rolled back":                                   {"broken-image-at-100"},
	"fluxcd/flagger#682: a rollback that Git does not know":                                   {"broken-image-rolled-back", "rollback-previous"},
	"fluxcd/flagger#1577: a cluster rebuilt in the middle runs what was not tested":           {"TestClusterRebuilt"},
	"akuity/kargo#2196: healthy too early":                                                    {"TestJudge", "TestClientIsNotFooledByHealth"},
	"akuity/kargo#6654: hangs on a dead connection":                                           {"TestSilentServer", "TestFaults"},
	"akuity/kargo#5315: incorrect old value provided":                                         {"TestContention"},
	"argoproj-labs/argocd-image-updater#1249: overwrites a person's rollback":                 {"superseded-by-person"},
	"argoproj-labs/argocd-image-updater#1805: an empty diff again and again":                  {"unchanged", "TestPublishUnchanged"},
	"argoproj/argo-cd#9527: a wait hangs on an expired token":                                 {"TestAwaitEnds", "wrong-argo-token"},
	"argoproj/argo-cd#12211: a wait hangs where nothing changes":                              {"TestAwaitPollsUntilLive"},
	"runatlantis/atlantis CVE-2024-52009: credentials in logs":                                {"TestSecretsAreFound", "TestFaults", "FuzzBase64"},
	"diggerhq/digger#2677: values of secret variables in comments":                            {"FuzzDiff", "TestDiff"},
	"zapier/kubechecks: comments cut inside a character":                                      {"TestShortenKeepsCharactersWhole"},
	"kubernetes-sigs/kustomize#4481: comments moved by an edit":                               {"TestSetImage", "FuzzSetImage"},
	"akuity/kargo CVE-2026-32828: requests to any host":                                       {"TestRenderRefuses", "TestRedirectIsNotFollowed"},
	"argoproj/argo-cd CVE-2025-23216: secret values in error texts":                           {"TestReasonsQuoteNoSecrets", "secret-in-reason"},
}

// TestReplays looks that all of these tests are there.
func TestReplays(t *testing.T) {
	t.Parallel()
	known := testNames(t)
	for bug, tests := range replays {
		for _, name := range tests {
			if !known[name] {
				t.Errorf("%s: no test %s", bug, name)
			}
		}
	}
	t.Logf("reliability: %d public bugs of other tools, each with a test that would find it here", len(replays))
}

// TestPromisesHaveTests looks that the tests which the documents name for what
// they promise are there, and that they name some.
func TestPromisesHaveTests(t *testing.T) {
	t.Parallel()
	known := testNames(t)
	for _, list := range []struct{ file, part, entry string }{
		{"docs/architecture.md", "## The promises", `(?m)^- (?:.|\n  )*`},
		{"SECURITY.md", "## What is promised", `(?m)^- (?:.|\n  )*`},
		{"SECURITY.md", "## Who may decide what", `(?m)^\| (?:the|who|Argo) .*`},
	} {
		file, part := list.file, list.part
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(text), part+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		promises := regexp.MustCompile(list.entry).FindAllString(section, -1)
		if !found || len(promises) < 5 {
			t.Errorf("%s: %d promises in %q", file, len(promises), part)
		}
		for _, promise := range promises {
			names := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+|[a-z0-9]+(?:-[a-z0-9]+)+\\.txtar)`").FindAllStringSubmatch(promise, -1)
			if len(names) == 0 {
				t.Errorf("%s: no test is named for: %s", file, promise)
			}
			for _, name := range names {
				if !known[strings.TrimSuffix(name[1], ".txtar")] {
					t.Errorf("%s: there is no test %s", file, name[1])
				}
			}
		}
	}
}

// TestFuzzTargets counts them, as docs/measurements.md does; what they begin with runs
// with the other tests.
func TestFuzzTargets(t *testing.T) {
	t.Parallel()
	targets := 0
	for name := range testNames(t) {
		if strings.HasPrefix(name, "Fuzz") {
			targets++
		}
	}
	count := fmt.Sprintf("%d fuzz targets", targets)
	text, err := os.ReadFile(filepath.Join(root, "docs", "measurements.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n- "+count+"\n") {
		t.Errorf("docs/measurements.md does not have the line - %s", count)
	}
	t.Logf("reliability: %s", count)
}

// testNames are the tests, fuzz targets and scripts of the project.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			for _, match := range function.FindAllSubmatch(text, -1) {
				names[string(match[1])] = true
			}
			return err
		case filepath.Base(filepath.Dir(path)) == "script" && strings.HasSuffix(path, ".txtar"):
			names[strings.TrimSuffix(entry.Name(), ".txtar")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
