package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/signingtest"
)

// passphrase is that of the key that TestForgeSecrets signs with.
const passphrase = "correct-" + secretWord + "-battery 91"

// hostileForge is a forge that repeats what it was asked with, in the place of an
// answer to some requests.
type hostileForge struct {
	request *regexp.Regexp // of nameOf
	answer  func(http.ResponseWriter, *http.Request)

	mu     sync.Mutex
	hits   int
	claims []string // what the App has said who it is with
}

// hostileRequests are what a promotion asks the forges, by what the answer is
// hostile to: the request, and that promotion.
var hostileRequests = map[string]struct {
	request string
	run     forgeRun
}{
	"rules":              {"^GET .*/rules/branches/main$", inPulls},
	"list of pulls":      {"^GET .*/infra/pulls$", inPulls},
	"opening a pull":     {"^POST .*/infra/pulls$", inPulls},
	"a pull":             {"^GET .*/infra/pulls/1$", inPulls},
	"how it is merged":   {"^POST /graphql query", inPulls},
	"queue":              {"enqueuePullRequest$", inPulls},
	"merge":              {"mergePullRequest$", inPulls},
	"branch":             {"^DELETE ", inPulls},
	"closing a pull":     {"^PATCH .*/infra/pulls/1$", afterProposal},
	"a status":           {"^POST .*/statuses/[0-9a-f]+$", forgeRuns["statuses"]},
	"checks":             {"^GET .*/commits/[0-9a-f]+/status$", forgeRuns["checks"]},
	"deployments":        {"^GET .*/deployments$", forgeRuns["deployments"]},
	"a deployment":       {"^POST .*/deployments$", forgeRuns["deployments"]},
	"its status":         {"^POST .*/deployments/[0-9]+/statuses$", forgeRuns["deployments"]},
	"its last status":    {"^GET .*/deployments/[0-9]+/statuses$", afterDeployment},
	"commit":             {"createCommitOnBranch$", forgeRuns["commits"]},
	"the App":            {"/installation$", inPulls},
	"token of the App":   {"/access_tokens$", inPulls},
	"who has approved":   {"/approvals$", forgeRuns["approvals"]},
	"the comment itself": {"^POST .*/product-import/issues/7/comments$", inPulls},
}

var (
	inPulls       = forgeRun{args: []string{"--mode", "pull-request", "--merge-timeout", "30s"}}
	afterProposal = forgeRun{
		args:   inPulls.args,
		before: []string{"promote", "--image", "ghcr.io/acme/product-import:v1.5.0", "--mode", "pull-request", "--merge", "none"},
		env:    onForge,
	}
	afterDeployment = forgeRun{
		args:   []string{"--deployments"},
		before: []string{"promote", "--image", "ghcr.io/acme/product-import:v1.5.0", "--deployments"},
		env:    onForge,
	}
)

// hostileAnswers are the ways to repeat it. JSON's parsers quote what is no time
// and no number.
var hostileAnswers = []func(http.ResponseWriter, *http.Request){
	repeats(http.StatusUnauthorized, `{"message": %s}`),
	repeats(http.StatusForbidden, `{"message": %s}`),
	repeats(http.StatusUnprocessableEntity, `{"message": "Validation Failed", "errors": [{"message": %s}]}`),
	repeats(http.StatusServiceUnavailable, `{"message": %s}`),
	repeats(http.StatusOK, `{"data": null, "errors": [{"message": %s}]}`),
	repeats(http.StatusOK, `{"created_at": %[1]s, "expires_at": %[1]s, "number": %[1]s, "merged_at": %[1]s}`),
	repeats(http.StatusNotFound, `%s`),
	echoes["redirect"],
}

func repeats(code int, format string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		echo := jsonText(echoOf(r))
		says(code, fmt.Sprintf(format, echo), nil)(w, r, nil)
	}
}

// TestForgeSecrets promotes with a GitHub App and a key to sign with while the
// forge answers one kind of request by what it was asked with. Nobody can read the
// least bit of a secret afterwards, with debug logging on too. Without -all, a
// sample of the kinds is answered, each in one way.
func TestForgeSecrets(t *testing.T) {
	t.Parallel()
	key := signingtest.SSH(t, passphrase, "-t", "ed25519")
	t.Cleanup(func() {
		if n := elsewhere().requests.Load(); n > 0 {
			t.Errorf("%d requests, with what they carry, followed a redirect to another host", n)
		}
	})
	for n, name := range slices.Sorted(maps.Keys(hostileRequests)) {
		for i, answer := range hostileAnswers {
			if !*all && (i != n%len(hostileAnswers) || n%oneOf(9, 1) != 0) {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d", name, i), func(t *testing.T) {
				t.Parallel()
				asked := hostileRequests[name]
				f := &hostileForge{request: regexp.MustCompile(asked.request), answer: answer}
				f.befall(t, key, asked.run)
			})
		}
	}
}

// befall promotes with the key while the forge is hostile. The token of the App is
// in no input.
func (f *hostileForge) befall(t *testing.T, key signingtest.Key, run forgeRun) {
	env := append(append([]string{"RUNNER_DEBUG=1", "INPUT_TOKEN=", "INPUT_APP-ID=4711", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM())}, onForge...), run.env...)
	args := instead([]string{"promote", "--image", "ghcr.io/acme/product-import:v2.0.0", "--steps", "100"}, run.args...)
	if !slices.Contains(run.args, "api") { // which the forge signs
		env = append(env, "INPUT_SIGNING-KEY="+key.Private, "INPUT_SIGNING-PASSPHRASE="+passphrase)
	}
	w := run.world(t)
	w.hub.Fault = f.answers
	_, out := w.program(t, env, args)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hits == 0 {
		t.Errorf("the run did not come to this:\n%s", out)
	}
	secrets := slices.Concat(f.claims, lastLines(key.Private), lastLines(string(githubtest.AppPEM())), []string{gitToken, hubToken, argoToken, passphrase})
	if err := w.hidesParts(secrets...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// lastLines are the last of a private key. The first ones hold what is public.
func lastLines(key string) []string {
	lines := strings.Split(strings.TrimSpace(key), "\n")
	return lines[len(lines)-4 : len(lines)-1]
}

// answers answers some requests in the forge's stead. Later ones get through, so
// that what waits for the forge ends.
func (f *hostileForge) answers(w http.ResponseWriter, r *http.Request) bool {
	name := nameOf(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.HasPrefix(token, "eyJ") && !slices.Contains(f.claims, token) {
		f.claims = append(f.claims, token)
	}
	if f.hits >= 6 || !f.request.MatchString(name) {
		return false
	}
	f.hits++
	f.answer(w, r)
	return true
}

// nameOf is a request by its method and path, and of GraphQL by what it does.
func nameOf(r *http.Request) string {
	name := r.Method + " " + r.URL.Path
	if r.URL.Path != "/graphql" {
		return name
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if found := mutation.FindSubmatch(body); found != nil {
		return name + " " + string(found[1])
	}
	return name + " query"
}
