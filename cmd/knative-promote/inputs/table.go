// Package inputs is everything that a user can ask for: one table with a row an
// input, from which the action's inputs, the environment variables, the flags
// and the usage text follow, the parsers of the values, and what is wrong
// between values that are each good alone.
package inputs

import (
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/review"
	"github.com/acme/knative-promote/promote/setting"
	"github.com/acme/knative-promote/promote/source"
)

// An Input is one setting. Its row is its only declaration: the action's
// input, the environment variable, the flag, the usage text, action.yml and
// docs/reference.md all follow from it.
type Input struct {
	Name          string                     // of the action's input and of the flag
	Usage         string                     // what it says and what it may be
	Default       string                     // taken when nothing is set
	ActionDefault string                     // the default in action.yml, where it is not Default
	Example       string                     // a good value, shown with every error
	Env           string                     // another environment variable to read, after INPUT_NAME
	Secret        bool                       // never a flag and never printed
	Parts         func(text string) []string // what of a Secret is to be hidden where it stands alone, besides its lines
	Address       bool                       // may hold a password where it is wrong
	With          string                     // the input without which it means nothing; empty: it stands alone
	Blanks        bool                       // at the ends are a part of it
	For           []Command                  // the commands that it is for; none: all
	Elsewhere     string                     // why it is wrong for other commands, where it is not only left out
	Required      []Command                  // the commands that cannot do without it
	Seen          bool                       // a rollback that nobody is to see live can do without it
	Planned       bool                       // diff cannot do without it either where it plans a promotion
	Place         bool                       // tells what a rollback is of, so the command that rolls back repeats it
	Said          setting.Said               // whether knative-promote.yaml may say it
	Of            []string                   // guards that rest on it
	Stricter      pipeline.Stricter          // of a guard: which values are stricter
	Value         setting.Value              // checks the text and keeps it in the settings
}

// A Group is a part of the table with a title for people.
type Group struct {
	Title  string
	Inputs []Input
}

// Groups is the table of inputs.
func Groups() []Group { return groupsOf(new(Settings)) }

// All is the table of inputs without its groups.
func All() []Input { return inputsOf(new(Settings)) }

// groupsOf is the table of inputs, bound to s.
func groupsOf(s *Settings) []Group {
	return []Group{
		{"What to promote", whatInputs(s)},
		{"The infra repository", places(whereInputs(s))},
		{"Argo CD", places(argocdInputs(s))},
		{"How to promote", howInputs(s)},
		{"What the candidate must show", inputsOfGates(s, gate.Kinds())},
		{"What to look for before", beforeInputs(s)},
		{"The report", reportInputs(s)},
	}
}

func inputsOf(s *Settings) []Input {
	var all []Input
	for _, g := range groupsOf(s) {
		all = append(all, g.Inputs...)
	}
	return all
}

// places marks all of the inputs as places.
func places(inputs []Input) []Input {
	for i := range inputs {
		inputs[i].Place = true
	}
	return inputs
}

func whatInputs(s *Settings) []Input {
	p := &s.Promote
	return []Input{
		{Name: "command", Said: setting.Never, Default: string(Promote), Example: string(Rollback), Value: setting.Bind(&s.Command, oneOf(Commands()...)),
			Usage: "what to do: `promote`, `rollback`, `check` (look for what would break a promotion), `diff` (show what would change), `prepare` (make what a pull request changes of a template a candidate, on its own branch) or `history`"},
		{Name: "service", Said: setting.Never, Place: true, Example: "product-import", Value: setting.Bind(&s.Target.Service, parseLabel),
			Usage: "name of the Knative Service, as the overlay renders it (default: the only one there)"},
		{Name: "environment", Said: setting.Never, Place: true, Example: "production", Value: setting.Bind(&s.Target.Environment, parseLine),
			Usage: "environment of knative-promote.yaml, which then says the path and all else that is not given; several, with commas, are promoted one after the other; " +
				"otherwise a label for people (default: the name of the overlay's folder, none for the repository's root)"},
		{Name: "image", Said: setting.Never, Of: []string{"from"}, Example: "ghcr.io/acme/product-import:v2.0.0", For: []Command{Promote, Diff, Check}, Elsewhere: "only promote, diff and check set an image, and a rollback goes to what the input to names", Value: setting.Bind(&p.Images, parseImages),
			Usage: "images to set, one per line, in the syntax of `kustomize edit set image`: `name:tag`, `name@digest`, " +
				"`name=newname:tag@digest` or `name=*:tag`; `" + imageUnchanged + "` promotes the overlay's template as it stands, for example where only its configuration has changed; promote needs it or from"},
		{Name: "from", Said: setting.Guard, Stricter: pipeline.More(""), Example: "apps/product-import/overlays/staging", For: []Command{Promote, Diff}, Value: setting.Bind(&p.From, parseFolders),
			Usage: "folder of the environment whose images to promote, or its name in knative-promote.yaml, in the place of image: those that its live revision runs, by their digests, " +
				"and only where its last promotion has passed all gates, is live and has been so for the time of soak; of several, with commas or one per line, all must, and run the same images"},
		{Name: "from-branch", With: "from", Said: setting.Guard, Of: []string{"from"}, Example: "staging", For: []Command{Promote, Diff}, Value: setting.Bind(&p.FromBranch, parseBranch),
			Usage: "branch of the infra repository that has the folder which from names, where each environment has a branch (default: branch)"},
		{Name: "soak", With: "from", Said: setting.Guard, Stricter: pipeline.Longer(), Example: "1h", For: []Command{Promote, Diff}, Value: setting.Bind(&p.Soak, parseDuration),
			Usage: "how long the environment that from names must have been good, with its unit (default: no time)"},
		{Name: "checks", With: "from", Said: setting.Guard, Stricter: pipeline.More(", and more besides"), Example: "e2e, contract", For: []Command{Promote, Diff}, Value: setting.Bind(&p.Checks, parseChecks),
			Usage: "commit statuses of the infra repository, by name, with commas or one per line, that must be success on the commit that was live in that environment when its last gates had passed (default: none)"},
		{Name: "on-config-drift", Said: setting.Guard, Stricter: pipeline.Always("fail"), Default: string(source.DriftWarn), Example: string(source.DriftFail), For: []Command{Promote, Diff}, Value: setting.Bind(&p.OnDrift, oneOf(source.DriftWarn, source.DriftFail)),
			Usage: "when configuration has changed in that environment since the last promotion from there and is not so here, or its template names a ConfigMap or Secret that there is none of here: `warn` says so, `fail` does not begin"},
		{Name: "wait-for-source", With: "from", Said: setting.Free, Example: "30m", For: []Command{Promote}, Value: setting.Bind(&p.WaitForSource, parseDuration),
			Usage: "how long to wait until it may be promoted from (default: not at all)"},
		{Name: "also", Said: setting.Never, Place: true, Example: "Deployment/product-import-worker", For: []Command{Promote, Rollback, Check, Diff, Prepare}, Value: setting.Bind(&p.Also, parseObjects),
			Usage: "other objects of the overlay that keep running and may move with the image, at once and without steps, as `Kind/name`, " +
				"with commas or one per line; what runs to its end, as a Job, moves without being named"},
		{Name: "to", Said: setting.Never, Example: "product-import-8a71e0c4", For: []Command{Rollback}, Elsewhere: "only the command rollback has a destination", Value: setting.Bind(&p.To, parseTo),
			Usage: "for rollback: the revision to roll back to, or a commit by its full name, whose version the cluster has, or the record by its images (default: the promotion before)"},
		{Name: "unseen", Said: setting.Never, Default: "false", Example: "true", For: []Command{Rollback}, Value: setting.Bind(&p.Unseen, parseBool),
			Usage: "for rollback: make the commit without asking Argo CD, whose inputs are not needed then; it ends with exit code 10, since nobody has seen it live"},
		{Name: "reason", Said: setting.Never, Example: "checkout errors since 14:10", For: []Command{Promote, Rollback, Diff, Prepare}, Value: setting.Bind(&p.Reason, parseReason),
			Usage: "why, for the commit message and the report"},
	}
}

func whereInputs(s *Settings) []Input {
	r, p := &s.Remote, &s.Promote
	return []Input{
		{Name: "repository", Said: setting.Never, Example: "acme/infra", Address: true, Required: []Command{Promote, Rollback, History}, Planned: true, Value: setting.Bind(&r.URL, parseRepository),
			Usage: "the infra repository: owner/name, an https, ssh or file URL, or a local path (default for diff, prepare and check: the repository of the workflow, checked out)"},
		{Name: "branch", Said: setting.Never, Default: "main", Example: "main", Value: setting.Bind(&r.Branch, parseBranch),
			Usage: "the branch that Argo CD syncs"},
		{Name: "path", Said: setting.Never, Example: "apps/product-import/overlays/production", Required: []Command{Promote, Rollback, Check, History}, Planned: true, Value: setting.Bind(&s.Target.Overlay, parseFolder),
			Usage: "folder of the kustomize overlay in the infra repository, a dot for its root"},
		{Name: "token", Said: setting.Never, Example: "${{ steps.app.outputs.token }}", Secret: true, Value: setting.Bind(&r.Token, parseSecret),
			Usage: "token that may push to the infra repository over https"},
		{Name: "app-id", Said: setting.Never, Example: "${{ vars.INFRA_APP_ID }}", Value: setting.Bind(&s.App.ID, parseAppID),
			Usage: "id or client id of a GitHub App that may push to the infra repository, in place of a token: the tokens are made in the run, and renewed"},
		{Name: "app-private-key", Said: setting.Never, Example: "${{ secrets.INFRA_APP_KEY }}", Secret: true, Value: setting.Bind(&s.App.Key, parseAppKey),
			Usage: "private key of the GitHub App, in PEM"},
		{Name: "ssh-key", Said: setting.Never, Example: "${{ secrets.INFRA_DEPLOY_KEY }}", Secret: true, Value: setting.Bind(&r.SSHKey, parseSSHKey),
			Usage: "private key that may push to the infra repository over ssh, without a passphrase"},
		{Name: "ssh-known-hosts", Said: setting.Never, Example: "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
			Value: setting.Bind(&r.KnownHosts, parseKnownHosts),
			Usage: "host keys of the git server, as lines of a known_hosts file"},
		{Name: "mode", Said: setting.Guard, Default: string(review.Push), Example: string(review.First), For: []Command{Promote, Rollback, Check}, Value: setting.Bind(&p.Mode, oneOf(review.Push, review.First, review.Every)),
			Usage: "how the commits come to the branch: `push` pushes them, `first-pull-request` opens a pull request with the candidate at 0 % and pushes the steps after it, " +
				"`pull-request` opens one for every step and for a rollback"},
		{Name: "merge", Said: setting.Free, Of: []string{"mode"}, Stricter: pipeline.Always(string(review.Wait), string(review.None)), Default: string(review.Auto), Example: string(review.Wait), For: []Command{Promote, Rollback, Check}, Value: setting.Bind(&p.Merge, oneOf(review.Auto, review.Wait, review.None)),
			Usage: "who merges the pull requests: `auto` the run as soon as the branch's rules allow it, `wait` a person, who is waited for, `none` a person, and a run that is started again goes on"},
		{Name: "merge-timeout", Said: setting.Free, Default: "15m", Example: "2h", For: []Command{Promote, Rollback}, Value: setting.Bind(&p.MergeTimeout, parseDuration),
			Usage: "how long one pull request may take to be merged"},
		{Name: "author-name", Said: setting.Never, Default: "knative-promote", Example: "release-bot", For: []Command{Promote, Rollback, Prepare, Check}, Value: setting.Bind(&s.Author.Name, parseName),
			Usage: "name of the commits' author"},
		{Name: "author-email", Said: setting.Never, Default: "knative-promote@users.noreply.github.com", Example: "release-bot@example.com", For: []Command{Promote, Rollback, Prepare, Check}, Value: setting.Bind(&s.Author.Email, parseEmail),
			Usage: "email address of the commits' author"},
		{Name: "commit", Said: setting.Free, Default: CommitGit, Example: CommitAPI, For: []Command{Promote, Rollback, Prepare, Check}, Value: setting.Bind(&s.Commit, oneOf(CommitGit, CommitAPI)),
			Usage: "who makes the commits: `git` pushes them, `api` has GitHub make them, signed by GitHub in the name of the token's owner, where the branch takes signed commits alone"},
		{Name: "signing-key", Said: setting.Never, Example: "${{ secrets.INFRA_SIGNING_KEY }}", Secret: true, For: []Command{Promote, Rollback, Prepare, Check}, Value: setting.Bind(&s.Signing.Key, parseText),
			Usage: "private key that signs the commits: an OpenPGP key, armored, as `gpg --armor --export-secret-keys ID` prints it, or an SSH key; " +
				"Argo CD verifies OpenPGP alone (default: the commits are not signed)"},
		{Name: "signing-passphrase", Said: setting.Never, Example: "${{ secrets.INFRA_SIGNING_PASSPHRASE }}", Secret: true, Blanks: true, For: []Command{Promote, Rollback, Prepare, Check}, Value: setting.Bind(&s.Signing.Passphrase, parseText),
			Usage: "passphrase of the signing key, where it is encrypted"},
	}
}

func argocdInputs(s *Settings) []Input {
	a, app := &s.Argo, &s.Target.App
	return []Input{
		{Name: "application", Said: setting.Free, Example: "argocd/product-import-production", Required: []Command{Promote, Rollback}, Seen: true, Value: setting.Bind(app, parseApp(app)),
			Usage: "the Argo CD Application that syncs the overlay, as name or namespace/name"},
		{Name: "project", Said: setting.Free, Example: "default", Value: setting.Bind(&app.Project, parseSubdomain),
			Usage: "the Application's project, where the token may see only that"},
		{Name: "argocd-server", Said: setting.Free, Env: "ARGOCD_SERVER", Example: "argocd.example.com", Address: true, Required: []Command{Promote, Rollback}, Seen: true, Value: setting.Bind(&a.Server, parseServer),
			Usage: "host[:port] of the Argo CD API server"},
		{Name: "argocd-token", Said: setting.Never, Env: "ARGOCD_AUTH_TOKEN", Example: "${{ secrets.ARGOCD_TOKEN }}", Secret: true, Required: []Command{Promote, Rollback}, Seen: true, Value: setting.Bind(&a.Token, parseSecret),
			Usage: "Argo CD API token that may get, and where auto-sync is off sync, the Application; an environment of `knative-promote.yaml` may have one of its own, in `ARGOCD_AUTH_TOKEN_` and its name, such as `ARGOCD_AUTH_TOKEN_PRODUCTION`"},
		{Name: "argocd-ca", Said: setting.Never, Example: "${{ vars.ARGOCD_CA }}", Value: setting.Bind(&a.CA, parseCertificates),
			Usage: "certificates, in PEM, to trust for Argo CD besides the system's"},
		{Name: "argocd-insecure", Said: setting.Never, Default: "false", Example: "true", Value: setting.Bind(&a.Insecure, parseBool),
			Usage: "do not verify Argo CD's certificate"},
		{Name: "argocd-plaintext", Said: setting.Never, Default: "false", Example: "true", Value: setting.Bind(&a.Plaintext, parseBool),
			Usage: "talk to Argo CD without TLS"},
		{Name: "argocd-headers", Said: setting.Never, Example: "CF-Access-Client-Id: 0123.access", Secret: true, Parts: headerSecrets, Value: setting.Bind(&a.Headers, parseHeaders),
			Usage: "headers for a proxy in front of Argo CD, one `Name: value` per line"},
		{Name: "argocd-root-path", Said: setting.Free, Example: "/argo-cd", Address: true, Value: setting.Bind(&a.RootPath, parseRootPath),
			Usage: "path under which Argo CD is served"},
	}
}

func howInputs(s *Settings) []Input {
	p, asks := &s.Promote, asksFor(ownRows(gate.Kinds(), &s.Promote.Gates))
	return []Input{
		{Name: "steps", Said: setting.Guard, Stricter: pipeline.By(parseSteps, keepsSteps, ", with further steps between them or longer ones"), Default: "100", Example: "10@5m,50@5m,100", For: []Command{Promote, Check, Diff, Prepare}, Value: setting.Bind(&p.Steps, parseSteps),
			Usage: "rising percentages of the traffic for the new revision, one commit each; the part after @ is how long it must stay good; " +
				"a list that ends below 100 ends held there, for an approval between two jobs"},
		{Name: "candidate-tag", Said: setting.Free, Place: true, Default: "candidate", Example: "candidate", Value: setting.Bind(&p.CandidateTag, parseLabel),
			Usage: "tag of the new revision below 100 %, the first part of its own URL"},
		{Name: "keep-previous", Said: setting.Free, Default: "false", Example: "true", For: []Command{Promote, Rollback, Check, Diff, Prepare}, Value: setting.Bind(&p.KeepPrevious, parseBool),
			Usage: "keep the old revision at 0 % under the tag `previous`; a cluster that never had it then routes nothing"},
		{Name: "windows", Said: setting.Guard, Example: "production/windows.yaml", For: []Command{Promote, Check, Diff}, Value: setting.Bind(&p.Guards.Windows, parseFile),
			Usage: "file of the infra repository that says when a Service may be given more traffic, and that the line is stopped (default: " + guard.DefaultWindows + ", if there is one)"},
		{Name: "override", Said: setting.Never, Example: string(guard.OverrideFreeze), For: []Command{Promote, Diff}, Value: setting.Bind(&p.Guards.Override, parseOverride),
			Usage: "what the run passes over, with commas: `freeze`, where the file of the freezes permits that, `guards`, what knative-promote.yaml wants, where that permits it, and `rolled-back`, that the images were rolled back last, here or where they come from; with a reason, and the first two go into the commits"},
		{Name: "on-failure", Said: setting.Guard, Of: asks, Stricter: pipeline.Always(string(promote.RollBack)), Default: string(promote.RollBack), Example: string(promote.Hold), For: []Command{Promote, Check, Diff}, Value: setting.Bind(&p.OnFailure, oneOf(promote.RollBack, promote.Hold)),
			Usage: "when a gate fails: `rollback` restores what was there, `hold` leaves the traffic as it is"},
		{Name: "on-cancel", Said: setting.Never, Default: string(promote.Hold), Example: string(promote.RollBack), For: []Command{Promote, Check, Diff}, Value: setting.Bind(&p.OnCancel, oneOf(promote.RollBack, promote.Hold)),
			Usage: "when the run is cancelled: `hold` or `rollback`"},
		{Name: "dry-run", Said: setting.Never, Default: "false", Example: "true", For: []Command{Promote, Rollback, Prepare}, Value: setting.Bind(&p.DryRun, parseBool),
			Usage: "plan and check everything, push nothing"},
		{Name: "timeout", Said: setting.Free, Default: "30m", Example: "1h", Value: setting.Bind(&s.Timeout, parseDuration),
			Usage: "how long the whole run may take, with its unit"},
		{Name: "wait-timeout", Said: setting.Free, Default: "10m", Example: "20m", For: []Command{Promote, Rollback, Check, Diff}, Value: setting.Bind(&p.Gates.Wait, parseDuration),
			Usage: "how long one commit may take to become live; a sync that fails is tried again by Argo CD for 5¼ minutes, unless the Application says otherwise"},
	}
}

func beforeInputs(s *Settings) []Input {
	p, c := &s.Promote, &s.Check
	return []Input{
		{Name: "preflight", Said: setting.Guard, Of: []string{"policies", "pod-security", "strict"}, Stricter: pipeline.Always("error"), Default: string(promote.PreflightError), Example: string(promote.PreflightWarn), For: []Command{Promote, Check, Diff},
			Value: setting.Bind(&p.Preflight, oneOf(promote.PreflightError, promote.PreflightWarn, promote.PreflightOff)),
			Usage: "what a promotion does when it finds, before its first commit, what would break it: `error` ends it, `warn` says so and goes on, `off` does not look"},
		{Name: "skip-checks", Said: setting.Guard, Of: []string{"policies", "pod-security", "strict", "preflight"}, Stricter: pipeline.Fewer(), Example: "not-looked-at", For: []Command{Promote, Check, Diff, Prepare}, Value: setting.Bind(&p.Skip, parseRules),
			Usage: "rules that `check` and the preflight leave out, by name, with commas or one per line"},
		{Name: "only-this-application", Said: setting.Guard, Stricter: pipeline.Always("false"), Default: "false", Example: "true", For: []Command{Promote, Check}, Value: setting.Bind(&p.OnlyThis, parseBool),
			Usage: "go on where other Applications deploy the same overlay, as in other clusters: each commit goes to all of them, and the gates look at this one alone"},
		{Name: "policies", Said: setting.Guard, Example: "policies/*.yaml", For: []Command{Promote, Check, Diff}, Value: setting.Bind(&p.Policies, parsePatterns),
			Usage: "files of the infra repository with ValidatingAdmissionPolicies, as patterns, with commas or one per line: what they deny stops a promotion before its first commit"},
		{Name: "pod-security", Said: setting.Guard, Stricter: pipeline.Always("restricted"), Example: "restricted", For: []Command{Promote, Check, Diff}, Value: setting.Bind(&p.PodSecurity, oneOf("baseline", "restricted")),
			Usage: "the pod security standard that a promotion must hold: `baseline` or `restricted`"},
		{Name: "strict", Said: setting.Guard, Stricter: pipeline.Always("true"), Default: "false", Example: "true", For: []Command{Promote, Check, Diff}, Value: setting.Bind(&p.Strict, parseBool),
			Usage: "let fields that their kind does not have, values of the wrong type, and what policies deny of the pods that Knative makes, stop a promotion instead of only being named"},
		{Name: "format", Said: setting.Never, Default: FormatText, Example: FormatSARIF, For: []Command{Check, History}, Value: setting.Bind(&c.Format, oneOf(FormatText, FormatJSON, FormatSARIF)),
			Usage: "how the findings of check are written: `text`, `json` or `sarif`, which code scanning reads, and the promotions of history: `text` or `json`"},
		{Name: "output", Said: setting.Never, Example: "findings.sarif", For: []Command{Check}, Value: setting.Bind(&c.Output, parsePath),
			Usage: "for check: file for the findings in that format, beside the text in the log (default: they go to the log)"},
		{Name: "manifests", Said: setting.Never, Example: "rendered", For: []Command{Check, Diff}, Value: setting.Bind(&s.Manifests, parseNewFolder),
			Usage: "new or empty folder to write the rendered manifests into, `before/` and `after/`, one file an object and with secrets hidden, for other tools to look at"},
		{Name: "fail-on", Said: setting.Never, Default: FailOnError, Example: FailOnWarning, For: []Command{Check}, Value: setting.Bind(&c.FailOn, oneOf(FailOnError, FailOnWarning, FailOnNever)),
			Usage: "for check: the least severity that makes the run fail: `error`, `warning`, or `never`"},
	}
}

func reportInputs(s *Settings) []Input {
	return []Input{
		{Name: "statuses", Said: setting.Free, Default: "false", Example: "true", For: []Command{Promote, Rollback}, Value: setting.Bind(&s.Statuses, parseBool),
			Usage: "show beside each commit in the infra repository, as the commit status `knative-promote/SERVICE/ENVIRONMENT`, whether its gates have passed; the token, or the App, must have the permission `statuses: write`"},
		{Name: "deployments", Said: setting.Free, Default: "false", Example: "true", For: []Command{Promote, Rollback}, Value: setting.Bind(&s.Deployments, parseBool),
			Usage: "show the promotion in the infra repository as a deployment to the environment `SERVICE/ENVIRONMENT`: how far it is, and what is live again after a rollback; the token, or the App, must have the permission `deployments: write`"},
		{Name: "github-token", Said: setting.Never, Env: "GITHUB_TOKEN", ActionDefault: "${{ github.token }}", Example: "${{ github.token }}", Secret: true, Value: setting.Bind(&s.GitHubToken, parseSecret),
			Usage: "token for the comment on the pull request"},
		{Name: "pull-request", Said: setting.Never, Example: "42", Value: setting.Bind(&s.PullRequest, setting.Count(1, 1<<31-1)),
			Usage: "number of the pull request that shows the report (default: the one of the event, or the one that the commit came from)"},
	}
}

// EnvNames are the environment variables of an input, first one wins. The
// runner keeps dashes, and a shell cannot export such names.
func (in Input) EnvNames() []string {
	upper := "INPUT_" + strings.ToUpper(in.Name)
	names := []string{upper}
	if under := strings.ReplaceAll(upper, "-", "_"); under != upper {
		names = append(names, under)
	}
	if in.Env != "" {
		names = append(names, in.Env)
	}
	return names
}

// ShellName is the environment variable of an input that every shell can set.
func (in Input) ShellName() string {
	return strings.ReplaceAll("INPUT_"+strings.ToUpper(in.Name), "-", "_")
}

// isFor says whether the command may look at the input. Where the command is
// not known, nothing can be said against it.
func (in Input) isFor(command Command) bool {
	return command == "" || len(in.For) == 0 || slices.Contains(in.For, command)
}
