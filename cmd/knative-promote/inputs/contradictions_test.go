package inputs

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/signingtest"
)

// Inputs that are each good and do not go together.
func TestContradictions(t *testing.T) {
	t.Parallel()
	long := "INPUT_SERVICE=" + strings.Repeat("a", 55)
	encrypted := "INPUT_SIGNING-KEY=" + signingtest.SSH(t, "correct horse", "-t", "ed25519").Private
	expiring := "INPUT_SIGNING-KEY=" + signingtest.Expiring(t, 3600).Private
	for _, test := range []struct {
		name string
		env  []string
		want string
	}{
		{"to without rollback", []string{"INPUT_TO=abcdef1"}, `to: "abcdef1" (INPUT_TO): only the command rollback has a destination; remove it, or set command to rollback`},
		{"bad to", []string{"INPUT_COMMAND=rollback", "INPUT_TO=HEAD~1"}, `to: "HEAD~1" (INPUT_TO): expected the name of a revision, or 7 to 40 hexadecimal digits of a commit; for example: product-import-8a71e0c4`},
		{"bad format", []string{"INPUT_COMMAND=check", "INPUT_FORMAT=yaml"}, `format: "yaml" (INPUT_FORMAT): expected text, json or sarif; for example: sarif`},
		{"bad output", []string{"INPUT_COMMAND=check", "INPUT_OUTPUT=folder/"}, `output: "folder/" (INPUT_OUTPUT): expected the name of a file on one line; for example: findings.sarif`},
		{"bad manifests", []string{"INPUT_COMMAND=check", "INPUT_MANIFESTS=a\tb"}, `manifests: "a\tb" (INPUT_MANIFESTS): expected the name of a folder on one line; for example: rendered`},
		{"bad fail-on", []string{"INPUT_COMMAND=check", "INPUT_FAIL-ON=info"}, `fail-on: "info" (INPUT_FAIL-ON): expected error, warning or never; for example: warning`},
		{"from and image", []string{"INPUT_FROM=apps/x/overlays/staging", "INPUT_IMAGE=ghcr.io/acme/x:v2"}, `image (INPUT_IMAGE): from is set too (INPUT_FROM), and says which images are promoted; remove one of them`},
		{"from itself", []string{"INPUT_FROM=apps/product-import/overlays/production"}, `from: "apps/product-import/overlays/production": it is the path that is promoted; expected the folder of another environment, or its branch in from-branch`},
		{"soak of nothing", []string{"INPUT_SOAK=1h"}, `soak (INPUT_SOAK): it means nothing without from; set from too, for example: apps/product-import/overlays/staging`},
		{"wait for nothing", []string{"INPUT_WAIT-FOR-SOURCE=1h"}, `wait-for-source (INPUT_WAIT-FOR-SOURCE): it means nothing without from; set from too, for example: apps/product-import/overlays/staging`},
		{"from without Argo CD", []string{"INPUT_COMMAND=diff", "INPUT_FROM=apps/x/overlays/staging", "INPUT_ARGOCD-SERVER=", "INPUT_ARGOCD-TOKEN="}, `from (INPUT_FROM): only Argo CD knows which images run there; set argocd-server, argocd-token and application too`},
		{"statuses elsewhere", []string{"INPUT_STATUSES=true", "INPUT_REPOSITORY=https://git.example.com/acme/infra"}, `statuses (INPUT_STATUSES): the statuses of https://git.example.com/acme/infra are not on the forge of the workflow, https://github.com; expected a repository there, or remove it`},
		{"mode without a token", []string{"INPUT_MODE=pull-request", "INPUT_TOKEN="}, `mode (INPUT_MODE): no token reaches the pull requests of https://github.com/acme/infra.git; set token, or app-id and app-private-key`},
		{"mode elsewhere", []string{"INPUT_MODE=first-pull-request", "INPUT_REPOSITORY=https://git.example.com/acme/infra.git"}, `mode (INPUT_MODE): the pull requests of https://git.example.com/acme/infra.git are not on the forge of the workflow, https://github.com; expected a repository there, or remove it`},
		{"commit by the API without a token", []string{"INPUT_COMMIT=api", "INPUT_TOKEN="}, `commit (INPUT_COMMIT): no token reaches the commits of https://github.com/acme/infra.git; set token, or app-id and app-private-key`},
		{"commit by the API with an author", []string{"INPUT_COMMIT=api", "INPUT_TOKEN=git-secret", "INPUT_AUTHOR-NAME=Ada"}, `author-name (INPUT_AUTHOR-NAME): commit is api, so GitHub says who made the commits and signs them; remove it, or set commit to git`},
		{"commit by the API of Gitea", []string{"INPUT_COMMIT=api", "INPUT_TOKEN=git-secret", "GITHUB_API_URL=https://github.com/api/v1"}, `commit (INPUT_COMMIT): the forge of the workflow, https://github.com, is Gitea or Forgejo, which make no signed commits by an API; expected git, and signing-key`},
		{"merge without pull requests", []string{"INPUT_MERGE=wait"}, `merge (INPUT_MERGE): mode is push, so there are no pull requests; set mode to first-pull-request or pull-request, or remove it`},
		{"merge-timeout without pull requests", []string{"INPUT_MERGE-TIMEOUT=1h"}, `merge-timeout (INPUT_MERGE-TIMEOUT): mode is push, so there are no pull requests; set mode to first-pull-request or pull-request, or remove it`},
		{"merge-timeout beyond the run's", []string{"INPUT_MODE=pull-request", "INPUT_MERGE-TIMEOUT=1h", "INPUT_TOKEN=git-secret"}, `merge-timeout: "1h0m0s": longer than the whole run's timeout of 30m0s; expected less, or a longer timeout`},
		{"checks without a token", []string{"INPUT_FROM=apps/x/overlays/staging", "INPUT_CHECKS=e2e", "INPUT_TOKEN="}, `checks (INPUT_CHECKS): no token reaches the statuses of https://github.com/acme/infra.git; set token, or app-id and app-private-key`},
		{"deployments elsewhere", []string{"INPUT_DEPLOYMENTS=true", "INPUT_REPOSITORY=https://git.example.com/acme/infra"}, `deployments (INPUT_DEPLOYMENTS): the deployments of https://git.example.com/acme/infra are not on the forge of the workflow, https://github.com; expected a repository there, or remove it`},
		{"deployments on Gitea", []string{"INPUT_DEPLOYMENTS=true", "GITHUB_SERVER_URL=https://git.example.com", "GITHUB_API_URL=https://git.example.com/api/v1"}, `deployments (INPUT_DEPLOYMENTS): https://git.example.com speaks the API of Gitea and Forgejo, which have no deployments; remove it, and set statuses to show how far a promotion is`},
		{"deployments without a token", []string{"INPUT_DEPLOYMENTS=true", "INPUT_TOKEN="}, `deployments (INPUT_DEPLOYMENTS): no token reaches the deployments of https://github.com/acme/infra.git; set token, or app-id and app-private-key`},
		{"statuses without TLS", []string{"INPUT_STATUSES=true", "INPUT_TOKEN=x", "GITHUB_API_URL=http://api.github.com"}, `statuses (INPUT_STATUSES): a token must not travel without TLS, and GITHUB_API_URL is "http://api.github.com"; expected an https URL there`},
		{"connect without probe", []string{"INPUT_PROBE-CONNECT=a:1"}, `probe-connect (INPUT_PROBE-CONNECT): nothing asks the Service; set warm-up, probe, compare, load or analysis, for example probe: /healthz`},
		{"count without probe", []string{"INPUT_PROBE-COUNT=2", "INPUT_LOAD=/ 5/s"}, `probe-count (INPUT_PROBE-COUNT): it means nothing without probe; set probe too, for example: /healthz expect=200`},
		{"objective without requests", []string{"INPUT_SLO=success>=99%"}, `slo (INPUT_SLO): nothing asks the candidate; set load too, for example: /healthz 5/s`},
		{"values without a template", []string{"INPUT_ANALYSIS-ARGS=a=b"}, `analysis-args (INPUT_ANALYSIS-ARGS): it means nothing without analysis; set analysis too, for example: analysis/success-rate.yaml at=10,50`},
		{"override with a blank for a reason", []string{"INPUT_OVERRIDE=freeze", "INPUT_REASON=\u00a0"}, `reason: missing: override is set (INPUT_OVERRIDE), and its commits say why; set reason too, for example: corrects the checkout errors`},
		{"override without reason", []string{"INPUT_OVERRIDE=freeze"}, `reason: missing: override is set (INPUT_OVERRIDE), and its commits say why; set reason too, for example: corrects the checkout errors`},
		{"policies nobody looks at", []string{"INPUT_PREFLIGHT=off", "INPUT_POLICIES=policies/*.yaml"}, `policies (INPUT_POLICIES): preflight is off, so nothing is looked at; remove it, or set preflight to error or warn`},
		{"objective of another source", []string{"INPUT_SLO=success>=99% from=kourier"}, `slo (INPUT_SLO): nobody is there to ask for metrics; set prometheus too, for example: https://prometheus.example.com`},
		{"objective of no revision", []string{"INPUT_SLO=success>=99% from=sum(errors)", "INPUT_PROMETHEUS=http://prometheus"}, `slo (INPUT_SLO): the query does not say of which revision: expected {{args.revision}} in it, such as sum by (code) (last_over_time(http_requests_total{revision="{{args.revision}}"}[{{args.age}}]))`},
		{"host too long", []string{long}, `candidate-tag: "candidate": the candidate's host candidate-` + strings.Repeat("a", 55) + ` has 65 characters and 63 are possible; expected a tag of 7 characters at most`},
		{"no room for a tag", []string{"INPUT_SERVICE=" + strings.Repeat("a", 62), "INPUT_CANDIDATE-TAG=c"}, `service: "` + strings.Repeat("a", 62) + `": a candidate's host has a tag and a dash before the name, and 63 characters are possible; expected a name of 61 characters at most`},
		{"tag taken", []string{"INPUT_CANDIDATE-TAG=previous"}, `candidate-tag: "previous": an old revision that is kept has this tag; expected another one, for example: candidate`},
		{"bake too long", []string{"INPUT_STEPS=10@20m,50@20m,100"}, `timeout: "30m0s": the steps alone must stay good for 40m0s; expected more than that, for example: 1h20m0s`},
		{"wait too long", []string{"INPUT_WAIT-TIMEOUT=1h"}, `wait-timeout: "1h0m0s": longer than the whole run's timeout of 30m0s; expected less, or a longer timeout`},
		{"key for https", []string{"INPUT_REPOSITORY=https://git.example.com/infra", "INPUT_SSH-KEY=" + testKey}, `ssh-key (INPUT_SSH-KEY): https://git.example.com/infra is not reached over ssh; set token instead, or write repository as ssh://git@host/owner/name.git`},
		{"token for ssh", []string{"INPUT_REPOSITORY=git@example.com:infra.git", "INPUT_TOKEN=x"}, `token (INPUT_TOKEN): git@example.com:infra.git is reached over ssh; set ssh-key instead, or write repository as an https URL`},
		{"token without TLS", []string{"INPUT_REPOSITORY=http://git.example.com/infra", "INPUT_TOKEN=x"}, `repository: "http://git.example.com/infra": a token must not travel without TLS; expected an https URL`},
		{"token without TLS, in capitals", []string{"INPUT_REPOSITORY=HTTP://git.example.com/infra", "INPUT_TOKEN=x"}, `repository: "http://git.example.com/infra": a token must not travel without TLS; expected an https URL`},
		{"token to a server without TLS", []string{"GITHUB_SERVER_URL=HTTP://git.example.com", "INPUT_TOKEN=x"}, `repository: "HTTP://git.example.com/acme/infra.git": a token must not travel without TLS; expected an https URL`},
		{"App without TLS", []string{"INPUT_TOKEN=", "INPUT_REPOSITORY=http://git.example.com/infra", "INPUT_APP-ID=7", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM())}, `repository: "http://git.example.com/infra": a token must not travel without TLS; expected an https URL`},
		{"App's API without TLS", []string{"INPUT_TOKEN=", "GITHUB_API_URL=Http://git.example.com/api/v3", "INPUT_APP-ID=7", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM())}, `app-id (INPUT_APP-ID): the App's tokens come from GITHUB_API_URL, which is "Http://git.example.com/api/v3", and must not travel without TLS; expected an https URL there`},
		{"key for a server in capitals", []string{"INPUT_REPOSITORY=SSH://git@example.com/infra.git", "INPUT_TOKEN=x"}, `token (INPUT_TOKEN): ssh://git@example.com/infra.git is reached over ssh; set ssh-key instead, or write repository as an https URL`},
		{"App without key", []string{"INPUT_TOKEN=", "INPUT_APP-ID=7"}, `app-private-key: missing: app-id is set (INPUT_APP-ID); set app-private-key too, or token instead of both`},
		{"App without id", []string{"INPUT_TOKEN=", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM())}, `app-id: missing: app-private-key is set (INPUT_APP-PRIVATE-KEY); set app-id too, or token instead of both`},
		{"App and token", []string{"INPUT_TOKEN=x", "INPUT_APP-ID=7", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM())}, `token (INPUT_TOKEN): app-id is set too (INPUT_APP-ID), and its tokens are made in the run; remove one of them`},
		{"App over ssh", []string{"INPUT_TOKEN=", "INPUT_REPOSITORY=git@example.com:infra.git", "INPUT_APP-ID=7", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM())}, `app-id (INPUT_APP-ID): a GitHub App's token is for https, and the repository is git@example.com:infra.git; write repository as owner/name or an https URL`},
		{"token over before the end", []string{"INPUT_TOKEN=ghs_x", "INPUT_TIMEOUT=2h", "INPUT_STEPS=10@40m,50@30m,100"}, `token (INPUT_TOKEN): a GitHub App's token lives for 1h0m0s, and this promotion and its rollback may take 2h10m0s, so at its end it could not be rolled back; give app-id and app-private-key instead, whose tokens are renewed, or lower timeout, wait-timeout or the times in steps`},
		{"no key to sign with", []string{"INPUT_SIGNING-KEY=hunter2"}, `signing-key (INPUT_SIGNING-KEY): the value cannot sign commits: expected one private key, whole: of gpg --armor --export-secret-keys, or of ssh-keygen`},
		{"passphrase without key", []string{"INPUT_SIGNING-PASSPHRASE=hunter2"}, `signing-passphrase (INPUT_SIGNING-PASSPHRASE): there is no key that it decrypts; set signing-key too, or remove it`},
		{"key over before the end", []string{expiring, "INPUT_TIMEOUT=2h", "INPUT_STEPS=10@40m,50@30m,100"}, `signing-key (INPUT_SIGNING-KEY): the key expires before this promotion and its rollback have ended, which may take 2h10m0s; expected one that is good for longer, or lower timeout, wait-timeout or the times in steps`},
		{"encrypted key", []string{encrypted}, `signing-passphrase: missing: the key of signing-key (INPUT_SIGNING-KEY) is encrypted; set signing-passphrase too`},
		{"wrong passphrase", []string{encrypted, "INPUT_SIGNING-PASSPHRASE=hunter2"}, `signing-passphrase (INPUT_SIGNING-PASSPHRASE): it does not decrypt the key of signing-key (INPUT_SIGNING-KEY); expected the passphrase of that key`},
		{"CA without TLS", []string{"INPUT_ARGOCD-PLAINTEXT=true", "INPUT_ARGOCD-CA=" + testCertificate}, `argocd-ca (INPUT_ARGOCD-CA): without TLS there is no certificate; remove it, or set argocd-plaintext to false`},
		{"CA and insecure", []string{"INPUT_ARGOCD-INSECURE=true", "INPUT_ARGOCD-CA=" + testCertificate}, `argocd-ca (INPUT_ARGOCD-CA): argocd-insecure accepts every certificate; remove one of them`},
		{"diff without token", []string{"INPUT_COMMAND=diff", "INPUT_ARGOCD-TOKEN="}, `argocd-token: missing: argocd-server is set (INPUT_ARGOCD-SERVER); set argocd-token too, or neither for a diff without the live state`},
		{"check without token", []string{"INPUT_COMMAND=check", "INPUT_ARGOCD-TOKEN="}, `argocd-token: missing: argocd-server is set (INPUT_ARGOCD-SERVER); set argocd-token too, or neither for a check without the live state`},
		{"check without application", []string{"INPUT_COMMAND=check", "INPUT_APPLICATION="}, `application: missing: argocd-server is set (INPUT_ARGOCD-SERVER); set application too, or neither for a check of the overlay alone`},
		{"diff without application", []string{"INPUT_COMMAND=diff", "INPUT_IMAGE=ghcr.io/acme/product-import:v2.0.0", "INPUT_APPLICATION="}, `application: missing: argocd-server is set (INPUT_ARGOCD-SERVER); set application too, or neither for a diff of the overlay alone`},
		{"check of no repository", []string{"INPUT_COMMAND=check", "INPUT_REPOSITORY="}, `repository: missing: the Application is compared with it; set repository, for example: acme/infra`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, consoletest.Enough(test.env...))
			checkText(t, err, test.want)
		})
	}
}
