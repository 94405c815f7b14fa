package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// accessRules are about tokens and what they may do.
func accessRules() []Rule {
	const tokens = "https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/"
	return []Rule{
		{
			ID: "may-not-sync", Severity: event.SeverityInfo, Find: findMayNotSync, Link: tokens,
			Summary: "the Argo CD token may not sync the Application",
		},
		{
			ID: "may-not-start-jobs", Severity: event.SeverityError, Find: findMayNotStartJobs, Link: tokens,
			Summary: "the Argo CD token may not start the Jobs of an analysis",
		},
		{
			ID: "too-much-power", Severity: event.SeverityInfo, Find: findPower, Link: tokens,
			Summary: "the Argo CD token may do more than promotions need",
		},
		{
			ID: "anonymous", Severity: event.SeverityWarning, Find: findAnonymous,
			Summary: "Argo CD does not accept the token, and answers because everybody may read",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/#anonymous-access",
		},
		{
			ID: "token-expires", Severity: event.SeverityWarning, Find: findExpiry,
			Summary: "the Argo CD token expires soon",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/projects/#project-roles",
		},
		{
			ID: "push-refused", Severity: event.SeverityError, Find: findPush,
			Summary: "the Git server does not take pushes",
			Link:    "https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches",
		},
	}
}

// findMayNotSync is silent where auto-sync is off: that is an error of its own.
func findMayNotSync(f Facts) []event.Finding {
	may, asked := f.Setup.Can[argo.MaySync]
	if f.Setup.App == nil || may || !asked || !f.automated() {
		return nil
	}
	return []event.Finding{{
		Problem: fmt.Sprintf("The Argo CD token may not sync Application %s", f.application()),
		Effect: "Promotions work, because Argo CD syncs by itself. Where it forgets a commit, or tries a refused one again and again, " +
			"a promotion could help with a sync of its own and may not: it waits, and fails.",
		Evidence: "the API server's can-i says no to applications, sync",
		Fix:      fmt.Sprintf("Nothing, or in the project's roles or in argocd-rbac-cm:\np, ROLE, applications, sync, %s, allow", policyObject(f.app(), f.Setup)),
	}}
}

func findPower(f Facts) []event.Finding {
	if f.Setup.App == nil {
		return nil
	}
	var may []string
	for _, power := range []struct {
		right argo.Right
		what  string
	}{{argo.MayUpdate, "change the Application"}, {argo.MayDelete, "delete it"}, {argo.MayUpdateProject, "change its project"}} {
		if f.Setup.Can[power.right] {
			may = append(may, power.what)
		}
	}
	if may == nil {
		return nil
	}
	object := policyObject(f.app(), f.Setup)
	return []event.Finding{{
		Problem:  fmt.Sprintf("The Argo CD token of Application %s may also %s", f.application(), strings.Join(may, ", ")),
		Effect:   "None for promotions. Whoever gets hold of the token can do that, too.",
		Evidence: "the API server's can-i says yes",
		Fix: "Promote with a token of a project role that has these rights and no others:\n" +
			fmt.Sprintf("p, ROLE, applications, get, %s, allow\np, ROLE, applications, sync, %s, allow", object, object),
	}}
}

func findAnonymous(f Facts) []event.Finding {
	if !f.Setup.Anonymous {
		return nil
	}
	return []event.Finding{{
		Problem:  "Argo CD takes the token for nobody's",
		Effect:   "It is wrong, expired or revoked. Everybody may read this Argo CD, so a promotion sees all it has to, but it cannot sync.",
		Evidence: "the API server's userinfo says that nobody is logged in",
		Fix:      "Make a new token and put it where argocd-token comes from:\nargocd proj role create-token PROJECT ROLE\nOr, for an account:\nargocd account generate-token --account ACCOUNT",
	}}
}

// near is when the end of a token is worth a warning: two working weeks and
// the weekends around them.
const near = 16 * 24 * time.Hour

func findExpiry(f Facts) []event.Finding {
	left := f.Setup.Expires.Sub(f.Request.Now)
	if f.Setup.Expires.IsZero() || f.Request.Now.IsZero() || left > near && left > f.Request.Worst {
		return nil
	}
	finding := event.Finding{
		Problem:  fmt.Sprintf("The Argo CD token expires at %s", f.when(f.Setup.Expires)),
		Effect:   "From then on promotions fail before their first commit.",
		Evidence: "the claim exp in the token",
		Fix:      "Make a new token and put it where argocd-token comes from:\nargocd proj role create-token PROJECT ROLE --expires-in 90d\nOr, for an account:\nargocd account generate-token --account ACCOUNT --expires-in 90d",
	}
	if left <= f.Request.Worst {
		finding.Severity = event.SeverityError
		finding.Effect = fmt.Sprintf("The promotion and its rollback may take %s. Without a token it cannot see whether a commit is live, rolls back what it cannot see, "+
			"and cannot see that either.", span(f.Request.Worst))
	}
	if left <= 0 {
		finding.Problem = fmt.Sprintf("The Argo CD token expired at %s", f.Setup.Expires.UTC().Format("2006-01-02 15:04 MST"))
	}
	return []event.Finding{finding}
}

func findPush(f Facts) []event.Finding {
	if !f.PushAsked || f.Push == nil {
		return nil
	}
	fix := "Check the input token: it needs write access to the contents of the infra repository."
	// The server's words are what counts: the address may have any of them.
	words := strings.ToLower(strings.ReplaceAll(f.Push.Error(), f.Request.Source.RepoURL, ""))
	if strings.Contains(words, "archived") {
		fix = "Take the repository out of the archive, or set repository to the one that took its place."
	}
	if slices.ContainsFunc([]string{"protected", "hook", "rule"}, func(w string) bool { return strings.Contains(words, w) }) {
		fix = "Let the token's owner bypass the rule, or set mode to first-pull-request or pull-request."
	}
	return []event.Finding{{
		Problem:  "The Git server does not take a push to branch " + f.Request.Source.Branch,
		Effect:   "A promotion ends before its first commit has arrived.",
		Evidence: f.Push.Error(),
		Fix:      fix,
	}}
}
