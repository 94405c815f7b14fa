package inputs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
)

// Every error that bad inputs can cause, as a user sees it.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ env, want string }{
		{"INPUT_COMMAND=promot", `command: "promot" (INPUT_COMMAND): expected promote, rollback, check, diff, prepare or history; did you mean promote?; for example: rollback`},
		{"INPUT_SERVICE=Product_Import", `service: "Product_Import" (INPUT_SERVICE): expected a DNS label: lower-case letters, digits and dashes, a letter first, 63 characters at most; for example: product-import`},
		{"INPUT_ENVIRONMENT=a\nb", `environment: "a\nb" (INPUT_ENVIRONMENT): expected one printable line of 100 bytes at most; for example: production
` + missingImage},
		{"INPUT_IMAGE=app:v1\napp:v2", `image: "app:v1\napp:v2" (INPUT_IMAGE): expected each image once, but app is there twice; for example: ghcr.io/acme/product-import:v2.0.0`},
		{"INPUT_FROM=/staging/..", `from: "/staging/.." (INPUT_FROM): expected a folder relative to the repository's root, with slashes and no .. in it; for example: apps/product-import/overlays/staging`},
		{"INPUT_CHECKS=a\x1bb", `checks: "a\x1bb" (INPUT_CHECKS): expected printable names of commit statuses, with commas or one per line; for example: e2e, contract`},
		{"INPUT_STATUSES=on", `statuses: "on" (INPUT_STATUSES): expected true or false; for example: true`},
		{"INPUT_SOAK=24", `soak: "24" (INPUT_SOAK): expected a duration above zero with its unit (90s, 5m, 1h30m); for example: 1h`},
		{"INPUT_SOAK=soon", `soak: "soon" (INPUT_SOAK): expected a duration above zero with its unit (90s, 5m, 1h30m); for example: 1h`},
		{"INPUT_WAIT-FOR-SOURCE=0", `wait-for-source: "0" (INPUT_WAIT-FOR-SOURCE): expected a duration above zero with its unit (90s, 5m, 1h30m); for example: 30m`},
		{"INPUT_REASON=a\x1b[31m", `reason: "a\x1b[31m" (INPUT_REASON): expected printable text of 500 bytes at most; for example: checkout errors since 14:10`},
		{"INPUT_REPOSITORY=https://dev.azure.com/acme/shop/_git/infra", `repository: "https://dev.azure.com/acme/shop/_git/infra" (INPUT_REPOSITORY): the servers of Azure DevOps and AWS CodeCommit demand multi_ack, an ability of Git's protocol that is missing here; expected a repository on another Git server; for example: acme/infra`},
		{"INPUT_REPOSITORY=git@ssh.dev.azure.com:v3/acme/shop/infra", `repository: "***@ssh.dev.azure.com:v3/acme/shop/infra" (INPUT_REPOSITORY): the servers of Azure DevOps and AWS CodeCommit demand multi_ack, an ability of Git's protocol that is missing here; expected a repository on another Git server; for example: acme/infra`},
		{"INPUT_REPOSITORY=https://acme.visualstudio.com/shop/_git/infra", `repository: "https://acme.visualstudio.com/shop/_git/infra" (INPUT_REPOSITORY): the servers of Azure DevOps and AWS CodeCommit demand multi_ack, an ability of Git's protocol that is missing here; expected a repository on another Git server; for example: acme/infra`},
		{"INPUT_REPOSITORY=https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/infra", `repository: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/infra" (INPUT_REPOSITORY): the servers of Azure DevOps and AWS CodeCommit demand multi_ack, an ability of Git's protocol that is missing here; expected a repository on another Git server; for example: acme/infra`},
		{"INPUT_REPOSITORY=infra", `repository: "infra" (INPUT_REPOSITORY): expected owner/name, or a URL that starts with https:// or ssh://; for example: acme/infra`},
		{"INPUT_REPOSITORY=https://ghs_secret@github.com/acme/infra", `repository: "https://***@github.com/acme/infra" (INPUT_REPOSITORY): expected a URL without a user or password; put the token into the input token; for example: acme/infra`},
		{"INPUT_REPOSITORY=ssh://git:pass@github.com/acme/infra", `repository: "ssh://***@github.com/acme/infra" (INPUT_REPOSITORY): expected a URL without a password; put the key into the input ssh-key; for example: acme/infra`},
		{"INPUT_REPOSITORY=https://github.com/acme/in fra", `repository: "https://github.com/acme/in fra" (INPUT_REPOSITORY): it has blanks or control characters; expected owner/name, a URL or a local path; for example: acme/infra`},
		{"INPUT_REPOSITORY=/srv/in fra", `repository: "/srv/in fra" (INPUT_REPOSITORY): it has blanks or control characters; expected owner/name, a URL or a local path; for example: acme/infra`},
		{"INPUT_REPOSITORY=file://srv/infra", `repository: "file://srv/infra" (INPUT_REPOSITORY): a file URL has no host; expected one like file:///srv/infra.git; for example: acme/infra`},
		{"INPUT_REPOSITORY=git@github.com:-infra", `repository: "***@github.com:-infra" (INPUT_REPOSITORY): it has no path to a repository; expected owner/name, a URL or a local path; for example: acme/infra`},
		{"INPUT_REPOSITORY=https://github.com", `repository: "https://github.com" (INPUT_REPOSITORY): expected a URL with a host and a path, and nothing after it; for example: acme/infra`},
		{"INPUT_BRANCH=refs/heads/main", `branch: "refs/heads/main" (INPUT_BRANCH): expected the short name of a branch; for example: main`},
		{"INPUT_PATH=/apps/../x", `path: "/apps/../x" (INPUT_PATH): expected a folder relative to the repository's root, with slashes and no .. in it; for example: apps/product-import/overlays/production`},
		{"INPUT_APP-PRIVATE-KEY=" + testKey, `app-private-key: the value (INPUT_APP-PRIVATE-KEY): expected an RSA private key in PEM, as GitHub gives it out for the App; for example: ${{ secrets.INFRA_APP_KEY }}`},
		{"INPUT_TOKEN=a secret", `token: the value (INPUT_TOKEN): expected one line without blanks; for example: ${{ steps.app.outputs.token }}`},
		{"INPUT_SSH-KEY=secret", `ssh-key: the value (INPUT_SSH-KEY): expected a private key in PEM, whole, from -----BEGIN to the END line; for example: ${{ secrets.INFRA_DEPLOY_KEY }}`},
		{"INPUT_SSH-KEY=" + lockedKey, `ssh-key: the value (INPUT_SSH-KEY): the ssh key is protected by a passphrase: expected a key without one; for example: ${{ secrets.INFRA_DEPLOY_KEY }}`},
		{"INPUT_SSH-KEY=-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----", `ssh-key: the value (INPUT_SSH-KEY): the ssh key cannot be read: expected a private key in PEM form, with its BEGIN and END lines; for example: ${{ secrets.INFRA_DEPLOY_KEY }}`},
		{"INPUT_SSH-KNOWN-HOSTS=github.com", `ssh-known-hosts: "github.com" (INPUT_SSH-KNOWN-HOSTS): expected lines of host, key type and key, as ssh-keyscan prints them; for example: github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl`},
		{"INPUT_SSH-KNOWN-HOSTS=# mine\n\nh ssh-ed25519 s3cr3t", `ssh-known-hosts: "# mine\n\nh ssh-ed25519 s3cr3t" (INPUT_SSH-KNOWN-HOSTS): line 3 cannot be read: expected a host, the type of its key and the key in base64, as ssh-keyscan prints them; for example: github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl`},
		{"INPUT_AUTHOR-NAME=a <b>", `author-name: "a <b>" (INPUT_AUTHOR-NAME): expected a name of one line without < and >; for example: release-bot`},
		{"INPUT_AUTHOR-EMAIL=Bot <bot@example.com>", `author-email: "Bot <bot@example.com>" (INPUT_AUTHOR-EMAIL): expected an email address alone; for example: release-bot@example.com`},
		{"INPUT_APPLICATION=a/b/c", `application: "a/b/c" (INPUT_APPLICATION): expected name or namespace/name of an Application; for example: argocd/product-import-production`},
		{"INPUT_PROJECT=A b", `project: "A b" (INPUT_PROJECT): expected a Kubernetes name: lower-case letters, digits, dashes and dots; for example: default`},
		{"INPUT_ARGOCD-SERVER=http://argo", `argocd-server: "http://argo" (INPUT_ARGOCD-SERVER): expected host[:port] without http://; for a server without TLS set argocd-plaintext to true as well; for example: argocd.example.com`},
		{"INPUT_ARGOCD-SERVER=HTTP://argo", `argocd-server: "HTTP://argo" (INPUT_ARGOCD-SERVER): expected host[:port] without http://; for a server without TLS set argocd-plaintext to true as well; for example: argocd.example.com`},
		{"INPUT_ARGOCD-SERVER=https://argo/cd", `argocd-server: "https://argo/cd" (INPUT_ARGOCD-SERVER): expected host[:port] without a path; put the path into argocd-root-path; for example: argocd.example.com`},
		{"INPUT_ARGOCD-SERVER=argo:99999", `argocd-server: "argo:99999" (INPUT_ARGOCD-SERVER): expected host[:port]; for example: argocd.example.com`},
		{"INPUT_ARGOCD-CA=nothing", `argocd-ca: "nothing" (INPUT_ARGOCD-CA): expected certificates in PEM, from -----BEGIN CERTIFICATE----- on; for example: ${{ vars.ARGOCD_CA }}`},
		{"INPUT_ARGOCD-INSECURE=yes", `argocd-insecure: "yes" (INPUT_ARGOCD-INSECURE): expected true or false; for example: true`},
		{"INPUT_ARGOCD-HEADERS=X-One: 1\nsecret", `argocd-headers: the value (INPUT_ARGOCD-HEADERS): expected Name: value on each line; line 2 is not; for example: CF-Access-Client-Id: 0123.access`},
		{"INPUT_ARGOCD-ROOT-PATH=https://x/y", `argocd-root-path: "https://x/y" (INPUT_ARGOCD-ROOT-PATH): expected a path; for example: /argo-cd`},
		{"INPUT_STEPS=10,5,100", `steps: "10,5,100" (INPUT_STEPS): expected percentages that rise, but 5 comes after 10; for example: 10@5m,50@5m,100`},
		{"INPUT_STEPS=-1,100", `steps: "-1,100" (INPUT_STEPS): expected whole percentages from 0 to 100, but there is "-1"; for example: 10@5m,50@5m,100`},
		{"INPUT_STEPS=10@soon", `steps: "10@soon" (INPUT_STEPS): after @ expected a duration above zero with its unit (90s, 5m, 1h30m), but there is "soon"; for example: 10@5m,50@5m,100`},
		{"INPUT_STEPS=,", `steps: "," (INPUT_STEPS): expected at least one percentage; for example: 10@5m,50@5m,100`},
		{"INPUT_CANDIDATE-TAG=1st", `candidate-tag: "1st" (INPUT_CANDIDATE-TAG): expected a DNS label: lower-case letters, digits and dashes, a letter first, 63 characters at most; for example: candidate`},
		{"INPUT_KEEP-PREVIOUS=1", `keep-previous: "1" (INPUT_KEEP-PREVIOUS): expected true or false; for example: true`},
		{"INPUT_PROBE=//host/x", `probe: "//host/x" (INPUT_PROBE): expected a path that starts with one slash, and expect=STATUS where another status than any 2xx is good; for example: /healthz expect=200`},
		{"INPUT_PROBE=/x status=200", `probe: "/x status=200" (INPUT_PROBE): expected expect= with a status from 100 to 599 after the path, but there is "status=200"; for example: /healthz expect=200`},
		{"INPUT_LOAD=/healthz", `load: "/healthz" (INPUT_LOAD): expected a path that starts with one slash, and a rate; for example: /healthz 5/s`},
		{"INPUT_LOAD=healthz 5/s", `load: "healthz 5/s" (INPUT_LOAD): expected a path that starts with one slash, and a rate; for example: /healthz 5/s`},
		{"INPUT_LOAD=/ 5", `load: "/ 5" (INPUT_LOAD): expected a rate of whole requests, at most 100 a second, as NUMBER/s or NUMBER/m, but there is "5"; for example: /healthz 5/s`},
		{"INPUT_LOAD=/ 101/s", `load: "/ 101/s" (INPUT_LOAD): expected a rate of whole requests, at most 100 a second, as NUMBER/s or NUMBER/m, but there is "101/s"; for example: /healthz 5/s`},
		{"INPUT_LOAD=/ -1/m", `load: "/ -1/m" (INPUT_LOAD): expected a rate of whole requests, at most 100 a second, as NUMBER/s or NUMBER/m, but there is "-1/m"; for example: /healthz 5/s`},
		{"INPUT_WARM-UP=healthz", `warm-up: "healthz" (INPUT_WARM-UP): expected a path that starts with one slash; for example: /healthz`},
		{"INPUT_ANALYSIS=../x.yaml", `analysis: "../x.yaml" (INPUT_ANALYSIS): "../x.yaml": expected the path of a file in the infra repository, such as analysis/success-rate.yaml; for example: analysis/success-rate.yaml at=10,50`},
		{"INPUT_ANALYSIS=a.yaml at=often", `analysis: "a.yaml at=often" (INPUT_ANALYSIS): "a.yaml at=often": at=often: expected every, candidate, final or percentages from 1 to 100, such as at=10,50; for example: analysis/success-rate.yaml at=10,50`},
		{"INPUT_ANALYSIS-ARGS=a", `analysis-args: "a" (INPUT_ANALYSIS-ARGS): line 1: expected name=value; for example: service-name=shop.prod.svc.cluster.local`},
		{"INPUT_COMPARE=/a json,body", `compare: "/a json,body" (INPUT_COMPARE): "json,body": "body" is not known: expected status, latency<=FACTORx and json with commas between them, count= or ignore=, such as /api/items status,latency<=1.5x,json count=20 ignore=generatedAt,items[].id; for example: /api/items status,latency<=1.5x,json count=20 ignore=generatedAt`},
		{"INPUT_SLO=success>=99", `slo: "success>=99" (INPUT_SLO): "success>=99": expected a percentage with its sign, and with 6 decimals at most, such as success>=99%; for example: success>=99% latency<=500ms@99%`},
		{"INPUT_PROMETHEUS=prometheus:9090", `prometheus: "prometheus:9090" (INPUT_PROMETHEUS): expected an http or https URL with a host, and nothing after its path; for example: https://prometheus.example.com`},
		{"INPUT_PROMETHEUS=https://me:x@prometheus", `prometheus: "https://***@prometheus" (INPUT_PROMETHEUS): expected a URL without a user or password; put them into the input prometheus-headers, as Authorization: Basic and both in base64; for example: https://prometheus.example.com`},
		{"INPUT_PROMETHEUS-HEADERS=secret", `prometheus-headers: the value (INPUT_PROMETHEUS-HEADERS): expected Name: value on each line; line 1 is not; for example: Authorization: Bearer ${{ secrets.PROMETHEUS_TOKEN }}`},
		{"INPUT_ON-INCONCLUSIVE=ignore", `on-inconclusive: "ignore" (INPUT_ON-INCONCLUSIVE): expected hold, rollback or pass; for example: rollback`},
		{"INPUT_WAIT-FOR-DATA=0", `wait-for-data: "0" (INPUT_WAIT-FOR-DATA): expected a duration above zero with its unit (90s, 5m, 1h30m); for example: 10m`},
		{"INPUT_PROBE-COUNT=0", `probe-count: "0" (INPUT_PROBE-COUNT): expected a whole number from 1 to 1000; for example: 5`},
		{"INPUT_PROBE-CONNECT=localhost", `probe-connect: "localhost" (INPUT_PROBE-CONNECT): expected host:port; for example: 127.0.0.1:8080`},
		{"INPUT_WINDOWS=/windows.yaml", `windows: "/windows.yaml" (INPUT_WINDOWS): expected a file relative to the repository's root, with slashes and no .. in it; for example: production/windows.yaml`},
		{"INPUT_WINDOWS=a\nb", `windows: "a\nb" (INPUT_WINDOWS): expected a file relative to the repository's root, with slashes and no .. in it; for example: production/windows.yaml`},
		{"INPUT_OVERRIDE=true", `override: "true" (INPUT_OVERRIDE): expected freeze, guards or rolled-back, several with commas; for example: freeze`},
		{"INPUT_ON-FAILURE=abort", `on-failure: "abort" (INPUT_ON-FAILURE): expected rollback or hold; for example: hold`},
		{"INPUT_PREFLIGHT=true", `preflight: "true" (INPUT_PREFLIGHT): expected error, warn or off; for example: warn`},
		{"INPUT_SKIP-CHECKS=not-looked-at, not-looked-up", `skip-checks: "not-looked-at, not-looked-up" (INPUT_SKIP-CHECKS): there is no rule "not-looked-up"; did you mean not-looked-at?; for example: not-looked-at`},
		{"INPUT_POLICIES=policies/**/*.yaml", `policies: "policies/**/*.yaml" (INPUT_POLICIES): "policies/**/*.yaml": expected a file or a pattern such as *.yaml relative to the repository's root, with slashes and without .. or **; for example: policies/*.yaml`},
		{"INPUT_POLICIES=a.yaml, ../b.yaml", `policies: "a.yaml, ../b.yaml" (INPUT_POLICIES): "../b.yaml": expected a file or a pattern such as *.yaml relative to the repository's root, with slashes and without .. or **; for example: policies/*.yaml`},
		{"INPUT_POLICIES=[.yaml", `policies: "[.yaml" (INPUT_POLICIES): "[.yaml": expected a file or a pattern such as *.yaml relative to the repository's root, with slashes and without .. or **; for example: policies/*.yaml`},
		{"INPUT_POD-SECURITY=restrict", `pod-security: "restrict" (INPUT_POD-SECURITY): expected baseline or restricted; did you mean restricted?; for example: restricted`},
		{"INPUT_STRICT=yes", `strict: "yes" (INPUT_STRICT): expected true or false; for example: true`},
		{"INPUT_TIMEOUT=-5m", `timeout: "-5m" (INPUT_TIMEOUT): expected a duration above zero with its unit (90s, 5m, 1h30m); for example: 1h`},
		{"INPUT_PULL-REQUEST=#42", `pull-request: "#42" (INPUT_PULL-REQUEST): expected a whole number from 1 to 2147483647; for example: 42`},
		{"GITHUB_TOKEN=a b", `github-token: the value (GITHUB_TOKEN): expected one line without blanks; for example: ${{ github.token }}`},
	} {
		t.Run(test.env, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, consoletest.Enough(test.env))
			checkText(t, err, test.want)
		})
	}
}

// TestInputsOfAnotherCommand stand in the environment for that one. As a flag
// they are a mistake.
func TestInputsOfAnotherCommand(t *testing.T) {
	t.Parallel()
	env := []string{"INPUT_PROBE_CONNECT=127.0.0.1:8080", "INPUT_PROBE_COUNT=many", "INPUT_OUTPUT=folder/", "INPUT_FAIL_ON=never", "INPUT_IMAGE=", "INPUT_STEPS=10", "INPUT_ON_FAILURE=hold"}
	for command, unused := range map[string]string{
		"history": "steps, on-failure, probe-count, probe-connect, output, fail-on", "rollback": "steps, on-failure, probe-count, probe-connect, output, fail-on",
	} {
		s, err := read(t, consoletest.Enough(env...), command)
		if err != nil || s.Check.Format != "text" || s.Check.Output != "" || s.Promote.Gates.Route.Connect != "" || s.Warnings() != nil {
			t.Errorf("%s: %+v %+v, warnings %q, error %v", command, s.Check, s.Promote.Gates.Probe, s.Warnings(), err)
		}
		inWorkflow := consoletest.Enough(append(env, "GITHUB_REPOSITORY=acme/shop", "GITHUB_RUN_ID=1")...)
		s, err = read(t, inWorkflow, command)
		want := []string{"the command " + command + " does not use " + unused}
		if diff := cmp.Diff(want, s.Warnings()); diff != "" || err != nil {
			t.Errorf("%s in a workflow: warnings (-want +got):\n%s\nerror: %v", command, diff, err)
		}
	}
	if _, err := read(t, consoletest.Enough("INPUT_PROBE_CONNECT=127.0.0.1:8080"), "diff"); err != nil {
		t.Error(err)
	}
	if s, err := read(t, consoletest.Enough("INPUT_PROBE_CONNECT=127.0.0.1:8080", "INPUT_OUTPUT=a.json"), "check"); err != nil || s.Check.Output != "a.json" {
		t.Errorf("check writes to %q, error %v", s.Check.Output, err)
	}
	_, err := read(t, consoletest.Enough("INPUT_IMAGE="), "history", "--probe-connect=127.0.0.1:8080", "--fail-on", "never")
	checkText(t, err, `probe-connect (--probe-connect): the command history does not use it, only promote, check, diff; remove it, or set command
fail-on (--fail-on): the command history does not use it, only check; remove it, or set command`)
}

// TestUnseen is the rollback that needs nothing of Argo CD, and no other command.
func TestUnseen(t *testing.T) {
	t.Parallel()
	env := []string{"INPUT_REPOSITORY=acme/infra", "INPUT_PATH=apps/x", "INPUT_TOKEN=t"}
	if s, err := read(t, consoletest.Environment(env...), "rollback", "--unseen"); err != nil || !s.Promote.Unseen {
		t.Errorf("unseen is %t, error %v", s.Promote.Unseen, err)
	}
	if _, err := read(t, consoletest.Environment(env...), "rollback"); err == nil || !strings.Contains(err.Error(), "argocd-token: missing") {
		t.Errorf("without unseen the error is %v", err)
	}
}

// TestLoopbackNeedsNoTLS has what tests and the sandbox run against.
func TestLoopbackNeedsNoTLS(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1:8080", "[::1]:8080", "localhost"} {
		app := []string{"INPUT_APP-ID=7", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM()), "GITHUB_API_URL=http://" + host}
		for _, env := range [][]string{{"INPUT_TOKEN=x"}, app} {
			if _, err := read(t, consoletest.Enough(append(env, "INPUT_REPOSITORY=http://"+host+"/infra")...)); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
}

// TestPasswordsInAddresses has addresses that are not as they should be, and
// whose passwords must not be shown for that.
func TestPasswordsInAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ env, shown string }{
		{"INPUT_REPOSITORY=robot:hunter2@git.example.com:acme/infra.git", "***@git.example.com:acme/infra.git"},
		{"INPUT_REPOSITORY=https:/robot:hunter2@git.example.com/acme/infra", "https:/***@git.example.com/acme/infra"},
		{"INPUT_REPOSITORY=https://robot:hun/ter2@git.example.com/acme/infra", "https://***@git.example.com/acme/infra"},
		{"INPUT_REPOSITORY=https://robot:hun ter2@git.example.com/acme/infra", "https://***@git.example.com/acme/infra"},
		{"INPUT_REPOSITORY=https://robot:hun@ter2@git.example.com/acme/infra", "https://***@git.example.com/acme/infra"},
		{"INPUT_REPOSITORY=Https://hunter2@git.example.com/acme/infra", "Https://***@git.example.com/acme/infra"},
		{"INPUT_REPOSITORY=file://robot:hunter2@git.example.com/acme/infra", "file://***@git.example.com/acme/infra"},
		{"INPUT_REPOSITORY=https://git.example.com/acme/infra?access_token=hunter2", "https://git.example.com/acme/infra?***"},
		{"INPUT_ARGOCD-SERVER=admin:hunter2@argocd.example.com", "***@argocd.example.com"},
		{"ARGOCD_SERVER=https://admin:hunter2@argocd.example.com", "https://***@argocd.example.com"},
		{"INPUT_ARGOCD-ROOT-PATH=https://admin:hun/ter2@argocd.example.com/x", "https://***@argocd.example.com/x"},
		{"INPUT_PROBE-CONNECT=admin:hunter2@127.0.0.1:8080", "***@127.0.0.1:8080"},
		{"INPUT_PROBE=https://admin:hunter2@shop.example.com/healthz", "https://***@shop.example.com/healthz"},
		{"INPUT_IMAGE=https://admin:hunter2@ghcr.io/acme/shop:v2", "https://***@ghcr.io/acme/shop:v2"},
	} {
		_, err := read(t, consoletest.Enough("INPUT_ARGOCD-SERVER=", test.env))
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(test.shown)) || strings.Contains(err.Error(), "hun") || strings.Contains(err.Error(), "ter2") {
			t.Errorf("%s: error %v, want it to show %s", test.env, err, test.shown)
		}
	}
}

// The runner gives the defaults of action.yml as if somebody had set them.
func TestDefaultsFromTheRunnerAreNoContradiction(t *testing.T) {
	t.Parallel()
	env := []string{"INPUT_SERVICE=product-import", "INPUT_IMAGE=unchanged"}
	for _, in := range All() {
		if in.Default != "" {
			env = append(env, in.EnvNames()[0]+"="+in.Default)
		}
	}
	if _, err := read(t, consoletest.Enough(env...)); err != nil {
		t.Error(err)
	}
}

func TestEverythingWrongAtOnce(t *testing.T) {
	t.Parallel()
	_, err := read(t, consoletest.Environment("INPUT_STEPS=5,5", "INPUT_DRY_RUN=maybe", "INPUT_SERVICE=X"), "--token=ghs_secret", "--argocd-token", "a", "promote", "--pth", "--stepz=1", "more", "--reason=a", "--reason=b")
	checkText(t, err, `--token: a secret is never a flag, because other processes can read it; set INPUT_TOKEN instead
--argocd-token: a secret is never a flag, because other processes can read it; set INPUT_ARGOCD_TOKEN instead
--pth: unknown flag; did you mean --path?; see --help
--stepz: unknown flag; did you mean --steps?; see --help
"more": expected no argument after the command promote; every input is a flag, see --help
--reason: given twice, with different values; expected it once: several values stand in one
service: "X" (INPUT_SERVICE): expected a DNS label: lower-case letters, digits and dashes, a letter first, 63 characters at most; for example: product-import
steps: "5,5" (INPUT_STEPS): expected percentages that rise, but 5 comes after 5; for example: 10@5m,50@5m,100
dry-run: "maybe" (INPUT_DRY_RUN): expected true or false; for example: true
repository: missing: expected the infra repository: owner/name, an https, ssh or file URL, or a local path (default for diff, prepare and check: the repository of the workflow, checked out); set the input repository, --repository or INPUT_REPOSITORY; for example: acme/infra
path: missing: expected the folder of the kustomize overlay in the infra repository, a dot for its root; set the input path, --path or INPUT_PATH; for example: apps/product-import/overlays/production
application: missing: expected the Argo CD Application that syncs the overlay, as name or namespace/name; set the input application, --application or INPUT_APPLICATION; for example: argocd/product-import-production
argocd-server: missing: expected the host[:port] of the Argo CD API server; set the input argocd-server, --argocd-server or INPUT_ARGOCD_SERVER; for example: argocd.example.com
`+missingImage)
}

const missingImage = "image: missing: expected what to promote; an empty value may be the output of another step, misspelt; set the input image, --image or INPUT_IMAGE, " +
	"for example: ghcr.io/acme/product-import:v2.0.0, to unchanged where the configuration alone is promoted, or set from"

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env  []string
		want []string
	}{
		{[]string{"INPUT_TOKEN=ghs_x", "INPUT_ARGOCD-PLAINTEXT=true", "INPUT_ARGOCD-SERVER=127.0.0.1:8080"}, nil},
		{[]string{"INPUT_TOKEN=github_pat_x", "INPUT_TIMEOUT=2h"}, nil},
		{[]string{"INPUT_TOKEN=github_pat_x", "INPUT_COMMAND=rollback", "INPUT_IMAGE=", "INPUT_TIMEOUT=3m"}, nil},
		{[]string{"INPUT_TOKEN=ghs_x", "INPUT_TIMEOUT=2h", "INPUT_STEPS=100"}, nil},
		{[]string{"INPUT_TOKEN=ghs_x", "INPUT_GITHUB-TOKEN=ghs_x", "INPUT_TIMEOUT=2h", "INPUT_STEPS=10@40m,50@30m,100"}, nil},
		{[]string{"INPUT_ARGOCD-HEADERS=Authorization: Bearer production"}, nil},
		{[]string{"INPUT_ARGOCD-HEADERS=X-Team: shop\nX-Env: production\nX-Access: q7Hd02Kx"}, []string{"argocd-headers: the value of X-Env, X-Team is plain words, so it is not hidden in the log, commits and comments; if it is a secret, replace it by a random one"}},
		{[]string{"INPUT_PROMETHEUS=http://prometheus:9090", "INPUT_PROMETHEUS-HEADERS=X-Access: q7Hd02Kx"}, []string{"prometheus-headers: they travel to Prometheus without TLS"}},
		{[]string{"INPUT_ARGOCD-INSECURE=true"}, []string{"argocd-insecure: Argo CD's certificate is not verified; argocd-ca is the safe way to use a private one"}},
		{[]string{"INPUT_ARGOCD-PLAINTEXT=true"}, []string{"argocd-plaintext: the token travels to Argo CD without TLS"}},
	} {
		s, err := read(t, consoletest.Enough(test.env...))
		if diff := cmp.Diff(test.want, s.Warnings()); diff != "" || err != nil {
			t.Errorf("%v: warnings (-want +got):\n%s\nerror: %v", test.env, diff, err)
		}
	}
}

func TestFlagProblems(t *testing.T) {
	t.Parallel()
	_, err := read(t, consoletest.Enough(), "--steps")
	checkText(t, err, "--steps: expected a value after it")
	_, err = read(t, consoletest.Enough(), "--xyzzy=1")
	checkText(t, err, "--xyzzy: unknown flag; see --help")
}

func checkText(t *testing.T, err error, want string) {
	t.Helper()
	got := "no error"
	if err != nil {
		got = err.Error()
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

// testCertificate is a CA that signs nothing.
const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBNDCB56ADAgECAhROoScFnECx5WSVzZM2yfNuQLsTszAFBgMrZXAwDzENMAsG
A1UEAwwEdGVzdDAgFw0yNjExMjAxMzQzNThaGA8yMTI2MTAyNzEzNDM1OFowDzEN
MAsGA1UEAwwEdGVzdDAqMAUGAytlcAMhADr1BIJhfVciN+H0Aj0/tQuyujXdfhyf
LxAdcluge0TLo1MwUTAdBgNVHQ4EFgQUcMfhWx7WF+6bMI2Ot5dICKeBwzwwHwYD
VR0jBBgwFoAUcMfhWx7WF+6bMI2Ot5dICKeBwzwwDwYDVR0TAQH/BAUwAwEB/zAF
BgMrZXADQQAvdVxszBS6ZYLwndRPtuD4aLAwPbW/UXC/vW6b/gt7WJJcrn83wSyl
xyBKsAipzJgPtqAaiCzNrEehdw19wB0I
-----END CERTIFICATE-----`

func TestForkCannotPromote(t *testing.T) {
	t.Parallel()
	event := filepath.Join(t.TempDir(), "event.json")
	text := []byte(`{"pull_request":{"number":7,"base":{"repo":{"id":1}},"head":{"repo":{"id":2}}}}`)
	if err := os.WriteFile(event, text, 0o600); err != nil {
		t.Fatal(err)
	}
	target := []string{"GITHUB_EVENT_NAME=pull_request_target", "GITHUB_EVENT_PATH=" + event}
	_, err := read(t, consoletest.Enough(target...))
	checkText(t, err, `command: "promote": the event pull_request_target comes from a fork's pull request that is not merged; expected diff, or a workflow that runs after the merge`)
	if _, err := read(t, consoletest.Enough(append(target, "INPUT_COMMAND=diff")...)); err != nil {
		t.Error(err)
	}
}
