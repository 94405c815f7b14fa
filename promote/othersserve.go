package promote

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/setting"
)

// refuseDrift refuses a rollback without a name for where to, where neither what it
// leads to has the traffic in the cluster, nor what Git says. Somebody has rolled
// back past Git then, as in Argo CD or with kubectl, and what comes before in Git
// may be what they rolled back from.
func refuseDrift(ctx context.Context, p *targetRun, git knative.Split, leads string) error {
	if p.config.To != "" {
		return nil
	}
	has := drift(p.at.Tip.Hash, p.at.Now, p.at.Live, p.at.App)
	if has[leads] == 100 {
		p.journal.Explain("%s has all traffic in the cluster already, and Git said %s", leads, knative.OrLatest(git.Stable))
	}
	others := maps.Clone(has)
	maps.DeleteFunc(others, func(name string, _ int) bool { return name == leads || slices.Contains(p.at.Holders(), name) })
	if len(others) == 0 {
		return nil
	}
	return setting.Bad("the cluster gives the traffic of Service %s to others than Git: %s; Git says %s. Somebody has moved it past Git, so it is for a person to say where to roll back to: %s",
		p.Service, described(has), knative.OrLatest(git.Stable), strings.Join(choices(ctx, p, has, leads), "; "))
}

// drift is who has which share of the traffic, where that is others than a commit's overlay
// says and Argo CD will not change it by itself; see [check.Drift].
func drift(commit string, shows *knative.State, live *servingv1.Service, app *v1alpha1.Application) map[string]int {
	return check.Drift(check.Facts{Commit: commit, Overlay: shows, Service: live, Setup: argo.Setup{App: app}})
}

// choices are the commands that say where to. What is not Ready cannot be rolled back to.
func choices(ctx context.Context, p *targetRun, has map[string]int, leads string) (all []string) {
	for _, holder := range check.Fit(p.at.Record, has) {
		if p.service.Why(ctx, p.at.Live, holder) == "" {
			all = append(all, fmt.Sprintf("to leave it where it is and have Git say so, knative-promote rollback --to %s", holder))
		}
	}
	all = append(all, fmt.Sprintf("to have what Git says, argocd app sync %s", p.App))
	if leads != "" {
		all = append(all, fmt.Sprintf("for what had it before in Git, knative-promote rollback --to %s", leads))
	}
	return all
}

// described are shares in words.
func described(shares map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		words = append(words, fmt.Sprintf("%d %% %s", shares[name], name))
	}
	return strings.Join(words, ", ")
}
