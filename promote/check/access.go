package check

import (
	"slices"
	"strings"
	"time"

	k8s "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/acme/knative-promote/argo"
)

// accessRules are about tokens and what they may do.
func accessRules() []Rule {
	return []Rule{
		rule("may-not-sync", findMayNotSync), rule("may-not-start-jobs", findMayNotStartJobs), rule("too-much-power", findPower),
		rule("anonymous", findAnonymous), rule("token-expires", findExpiry), rule("push-refused", findPush),
	}
}

func findMayNotSync(f Facts) []found {
	if may, asked := f.Setup.Can[argo.MaySync]; may || !asked {
		return nil
	}
	return []found{{}}
}

// findMayNotStartJobs is about the Jobs of an analysis.
func findMayNotStartJobs(f Facts) []found {
	if len(f.Request.CronJobs) == 0 {
		return nil
	}
	var all []found
	if may, asked := f.Setup.Can[argo.MayStartJobs]; asked && !may {
		all = append(all, found{values: values{"CronJobs": f.Request.CronJobs, "ByProject": nil, "Right": argo.MayStartJobs}})
	}
	if project := f.Setup.Project; project != nil && !project.IsGroupKindPermitted(k8s.GroupKind{Group: "batch", Kind: "Job"}, true) {
		all = append(all, found{values: values{"CronJobs": f.Request.CronJobs, "ByProject": &project.Spec}})
	}
	return all
}

func findPower(f Facts) []found {
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
	return []found{{values: values{"May": may}}}
}

func findAnonymous(f Facts) []found {
	if !f.Setup.Anonymous {
		return nil
	}
	return []found{{}}
}

// near is when the end of a token is worth a warning: two working weeks and
// the weekends around them.
const near = 16 * 24 * time.Hour

func findExpiry(f Facts) []found {
	left := f.Setup.Expires.Sub(f.Request.Now)
	if f.Setup.Expires.IsZero() || f.Request.Now.IsZero() || left > near && left > f.Request.Worst {
		return nil
	}
	at, early := f.Request.when(f.Setup.Expires), left <= f.Request.Worst
	if left <= 0 {
		at = f.Setup.Expires.UTC().Format("2006-01-02 15:04 MST")
	}
	return []found{{severity: errorIf(early), values: values{"At": at, "Expired": left <= 0, "Early": early, "Worst": f.Request.Worst}}}
}

func findPush(f Facts) []found {
	if !f.PushAsked || f.Push == nil {
		return nil
	}
	// The server's words are what counts: the address may have any of them.
	words := strings.ToLower(strings.ReplaceAll(f.Push.Error(), f.Request.Source.RepoURL, ""))
	return []found{{values: values{
		"Why": f.Push, "Archived": strings.Contains(words, "archived"),
		"ByRule": slices.ContainsFunc([]string{"protected", "hook", "rule"}, func(w string) bool { return strings.Contains(words, w) }),
	}}}
}
