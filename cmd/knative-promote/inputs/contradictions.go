package inputs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/internal/strictyaml"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/slo"
)

// contradictions lists what is wrong between inputs that are each good alone.
// It looks only at inputs whose own value is good.
func contradictions(s *Settings, given origins, w console.Workflow) []string {
	wrong := []string{
		checkImage(s, given), checkFrom(s, given), checkConnect(s, given), checkSLO(s, given), checkTag(s), checkPrevious(s), checkBake(s), checkWait(s, given),
		checkOverride(s, given), checkTransport(s, given), checkClear(s, given, w), checkApp(s, given), checkTokenLife(s, given), checkTLS(s, given),
		checkSigning(s, given), checkKeyLife(s, given), checkForge(s, given, w), checkMerge(s, given), checkCommit(s, given, w), checkCredentials(s, given),
		checkRepository(s), checkApplication(s, given), checkFork(s, w), checkPrepare(s, w), checkPreflight(s, given), checkFormat(s, given),
	}
	return slices.DeleteFunc(append(wrong, aloneOf(s, given)...), func(line string) bool { return line == "" })
}

// checkImage wants to be told what is promoted.
func checkImage(s *Settings, given origins) string {
	if s.Command != Promote || given.has("image") || given.has("from") {
		return ""
	}
	return "image: missing: expected what to promote; an empty value may be the output of another step, misspelt; " +
		"set the input image, --image or INPUT_IMAGE, for example: ghcr.io/acme/product-import:v2.0.0, to " + imageUnchanged + " where the configuration alone is promoted, or set from"
}

// checkFrom wants one answer to what is promoted, and somebody who knows what runs
// in the environment that it comes from.
func checkFrom(s *Settings, given origins) string {
	from := given.source("from")
	if from == "" {
		return ""
	}
	switch {
	case given.source("image") != "" && !bySaid(from):
		return fmt.Sprintf("image (%s): from is set too (%s), and says which images are promoted; remove one of them", given.source("image"), from)
	case slices.Contains(s.Promote.From, s.Target.Overlay) && cmp.Or(s.Promote.FromBranch, s.Remote.Branch) == s.Remote.Branch:
		return fmt.Sprintf("from: %q: it is the path that is promoted; expected the folder of another environment, or its branch in from-branch", s.Target.Overlay)
	case s.Argo.Server == "" && s.Command == Diff:
		return fmt.Sprintf("from (%s): only Argo CD knows which images run there; set argocd-server, argocd-token and application too", from)
	}
	return ""
}

// aloneOf lists the inputs that mean nothing without another one, which is not given.
func aloneOf(s *Settings, given origins) (wrong []string) {
	all := inputsOf(s)
	for _, in := range all {
		if in.With == "" || given.source(in.Name) == "" || given.has(in.With) {
			continue
		}
		with := all[slices.IndexFunc(all, func(i Input) bool { return i.Name == in.With })]
		wrong = append(wrong, fmt.Sprintf("%s (%s): it means nothing without %s; set %s too, for example: %s", in.Name, given.source(in.Name), with.Name, with.Name, with.Example))
	}
	return wrong
}

// checkConnect wants something that asks the Service.
func checkConnect(s *Settings, given origins) string {
	if s.Command != Promote {
		return ""
	}
	asking := senders(gate.Kinds())
	if given.source("probe-connect") != "" && !slices.ContainsFunc(asking, given.has) {
		return fmt.Sprintf("probe-connect (%s): nothing asks the Service; set %s, for example probe: /healthz", given.source("probe-connect"), strictyaml.Names(asking))
	}
	return ""
}

// checkSLO wants an objective's requests to come from somewhere.
func checkSLO(s *Settings, given origins) string {
	switch from := s.Promote.Gates.SLO.From; {
	case !given.has("slo"), from == "":
		return ""
	case from != slo.Load:
		return checkMetrics(s, given)
	case !given.has("load") && !given.has("probe"):
		return fmt.Sprintf("slo (%s): nothing asks the candidate; set load too, for example: /healthz 5/s", given.source("slo"))
	}
	return ""
}

// checkMetrics wants somebody to ask for metrics, and a query that can be asked.
func checkMetrics(s *Settings, given origins) string {
	if err := metrics.Check(s.Promote.Gates.SLO); err != nil {
		return fmt.Sprintf("slo (%s): %v", given.source("slo"), err)
	}
	if !given.has("prometheus") && !slices.Contains(s.Unasked, "prometheus") {
		return fmt.Sprintf("slo (%s): nobody is there to ask for metrics; set prometheus too, for example: https://prometheus.example.com", given.source("slo"))
	}
	return ""
}

// checkTag keeps the tagged route's host, tag-service, within a DNS label. A rollback makes no candidate.
func checkTag(s *Settings) string {
	host, room := s.Promote.CandidateTag+"-"+s.Target.Service, 62-len(s.Target.Service)
	switch {
	case len(host) <= 63 || s.Target.Service == "" || s.Command == Rollback:
		return ""
	case room < 1:
		return fmt.Sprintf("service: %q: a candidate's host has a tag and a dash before the name, and 63 characters are possible; expected a name of 61 characters at most", s.Target.Service)
	}
	return fmt.Sprintf("candidate-tag: %q: the candidate's host %s has %d characters and 63 are possible; expected a tag of %d characters at most",
		s.Promote.CandidateTag, host, len(host), room)
}

func checkPrevious(s *Settings) string {
	if s.Promote.CandidateTag != "previous" {
		return ""
	}
	return "candidate-tag: \"previous\": an old revision that is kept has this tag; expected another one, for example: candidate"
}

// checkBake keeps a run from starting that can only end in its timeout.
func checkBake(s *Settings) string {
	var bake time.Duration
	for _, step := range s.Promote.Steps {
		bake += step.Bake
	}
	if s.Timeout == 0 || bake < s.Timeout {
		return ""
	}
	return fmt.Sprintf("timeout: %q: the steps alone must stay good for %s; expected more than that, for example: %s", s.Timeout, bake, 2*bake)
}

// outlasts says of a part of the run that it may take longer than the whole run; empty: it may not. A default is cut short by
// what the run is given. Where the pipeline file says the one and the run is given the other, or rolls back, that
// is nobody's fault: the run's timeout comes first.
func outlasts(s *Settings, given origins, name string, part time.Duration) string {
	whole := given.source("timeout")
	apart := bySaid(given.source(name)) && !bySaid(whole) && (whole != "" || s.Command == Rollback)
	if given.source(name) == "" || s.Timeout == 0 || part <= s.Timeout || apart {
		return ""
	}
	return fmt.Sprintf("%s: %q: longer than the whole run's timeout of %s; expected less, or a longer timeout", name, part, s.Timeout)
}

func checkWait(s *Settings, given origins) string {
	if s.Command == History || s.Command == Prepare {
		return "" // they wait for nothing to become live
	}
	return outlasts(s, given, "wait-timeout", s.Promote.Gates.Wait)
}

// checkOverride wants to know why.
func checkOverride(s *Settings, given origins) string {
	if given.source("override") == "" || s.Promote.Reason != "" {
		return ""
	}
	return fmt.Sprintf("reason: missing: override is set (%s), and its commits say why; set reason too, for example: corrects the checkout errors", given.source("override"))
}

// checkTransport keeps a credential from being given for a transport that
// cannot use it.
func checkTransport(s *Settings, given origins) string {
	scheme := repourl.Read(s.Remote.URL).Scheme
	web := scheme == "http" || scheme == "https"
	switch {
	case web && given.source("ssh-key") != "" && given.source("token") == "" && given.source("app-id") == "":
		return fmt.Sprintf("ssh-key (%s): %s is not reached over ssh; set token instead, or write repository as ssh://git@host/owner/name.git", given.source("ssh-key"), s.Remote.URL)
	case scheme == "ssh" && given.source("ssh-key") == "" && given.source("token") != "":
		return fmt.Sprintf("token (%s): %s is reached over ssh; set ssh-key instead, or write repository as an https URL", given.source("token"), s.Remote.URL)
	}
	return ""
}

// checkClear keeps credentials from travelling without TLS. Argo CD's does so
// where argocd-plaintext asks for it, and the comment's is not sent.
func checkClear(s *Settings, given origins, w console.Workflow) string {
	switch credential := given.source("token") != "" || given.source("app-id") != ""; {
	case credential && InClear(s.Remote.URL):
		return fmt.Sprintf("repository: %q: a token must not travel without TLS; expected an https URL", s.Remote.URL)
	case given.source("app-id") != "" && InClear(w.APIURL):
		return fmt.Sprintf("app-id (%s): the App's tokens come from GITHUB_API_URL, which is %q, and must not travel without TLS; expected an https URL there", given.source("app-id"), w.APIURL)
	}
	return ""
}

// checkApp keeps the App's inputs together, and other credentials apart.
func checkApp(s *Settings, given origins) string {
	id, key := given.source("app-id"), given.source("app-private-key")
	switch {
	case id == "" && key == "":
		return ""
	case key == "":
		return fmt.Sprintf("app-private-key: missing: app-id is set (%s); set app-private-key too, or token instead of both", id)
	case id == "":
		return fmt.Sprintf("app-id: missing: app-private-key is set (%s); set app-id too, or token instead of both", key)
	case given.source("token") != "":
		return fmt.Sprintf("token (%s): app-id is set too (%s), and its tokens are made in the run; remove one of them", given.source("token"), id)
	case !strings.HasPrefix(repourl.Read(s.Remote.URL).Scheme, "http"):
		return fmt.Sprintf("app-id (%s): a GitHub App's token is for https, and the repository is %s; write repository as owner/name or an https URL", id, s.Remote.URL)
	}
	return ""
}

// appTokenLife is how long a token of a GitHub App lives. The workflow's own,
// which lives as long as its job, has the same prefix
// (https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-an-installation-access-token-for-a-github-app).
const appTokenLife = time.Hour

// checkTokenLife refuses a promotion that could not be rolled back any more.
func checkTokenLife(s *Settings, given origins) string {
	worst := s.Promote.Worst(s.Timeout)
	if s.Command != Promote || !strings.HasPrefix(s.Remote.Token, "ghs_") || s.Remote.Token == s.GitHubToken || s.Timeout == 0 || worst <= appTokenLife {
		return ""
	}
	return fmt.Sprintf("token (%s): a GitHub App's token lives for %s, and this promotion and its rollback may take %s, so at its end it could not be rolled back; "+
		"give app-id and app-private-key instead, whose tokens are renewed, or lower timeout, wait-timeout or the times in steps", given.source("token"), appTokenLife, worst)
}

func checkTLS(s *Settings, given origins) string {
	switch {
	case s.Argo.Plaintext && len(s.Argo.CA) > 0:
		return fmt.Sprintf("argocd-ca (%s): without TLS there is no certificate; remove it, or set argocd-plaintext to false", given.source("argocd-ca"))
	case s.Argo.Insecure && len(s.Argo.CA) > 0:
		return fmt.Sprintf("argocd-ca (%s): argocd-insecure accepts every certificate; remove one of them", given.source("argocd-ca"))
	}
	return ""
}

// checkCredentials says early that Argo CD cannot be asked.
func checkCredentials(s *Settings, given origins) string {
	if s.Command != Diff && s.Command != Check || given.source("argocd-server") == "" || given.has("argocd-token") {
		return ""
	}
	return fmt.Sprintf("argocd-token: missing: argocd-server is set (%s); set argocd-token too, or neither for a %s without the live state", given.source("argocd-server"), s.Command)
}

// checkRepository wants to know what a checkout is compared with, or pushed to.
func checkRepository(s *Settings) string {
	if s.Remote.URL != "" || s.Command != Prepare && !s.DiffsCheckout() {
		return ""
	}
	return "repository: missing: nobody says which repository the checkout is of, as a workflow does; set repository, for example: acme/infra"
}

// checkApplication says what the check needs to compare with Argo CD.
func checkApplication(s *Settings, given origins) string {
	switch {
	case s.Command != Check && s.Command != Diff || s.DiffsCheckout() || given.source("argocd-server") == "":
		return ""
	case !given.has("application"):
		return fmt.Sprintf("application: missing: argocd-server is set (%s); set application too, or neither for a %s of the overlay alone", given.source("argocd-server"), s.Command)
	case s.Command == Check && s.Remote.URL == "":
		return "repository: missing: the Application is compared with it; set repository, for example: acme/infra"
	}
	return ""
}

// Warnings lists what is allowed and may still be regretted.
func (s *Settings) Warnings() []string {
	var texts []string
	if s.Argo.Insecure {
		texts = append(texts, "argocd-insecure: Argo CD's certificate is not verified; argocd-ca is the safe way to use a private one")
	}
	if s.Argo.Plaintext && InClear("http://"+s.Argo.Server) {
		texts = append(texts, "argocd-plaintext: the token travels to Argo CD without TLS")
	}
	if len(s.Unused) > 0 {
		texts = append(texts, fmt.Sprintf("the command %s does not use %s", s.Command, strings.Join(s.Unused, ", ")))
	}
	if len(s.Unasked) > 0 {
		texts = append(texts, fmt.Sprintf("%s: %s of the checkout says it, which whoever opened a pull request may have written, so nothing is asked there; to have it asked, set it in the workflow", strings.Join(s.Unasked, ", "), pipeline.Name))
	}
	if len(s.Prometheus.Headers) > 0 && InClear(s.Prometheus.Address) {
		texts = append(texts, "prometheus-headers: they travel to Prometheus without TLS")
	}
	if plain := plainHeaders(s.Argo.Headers); len(plain) > 0 {
		texts = append(texts, fmt.Sprintf("argocd-headers: the value of %s is plain words, so it is not hidden in the log, commits and comments; if it is a secret, replace it by a random one", strings.Join(plain, ", ")))
	}
	return texts
}
