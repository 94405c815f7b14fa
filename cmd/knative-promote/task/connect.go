package task

import (
	"context"
	"errors"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/internal/version"
	"github.com/acme/knative-promote/cmd/knative-promote/forges"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/web"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/source"
)

// Connect makes what a run works on: the infra repository and Argo CD, which a
// plan alone can do without. Page is what pull requests say.
func (t Task) Connect(page func() string) (promote.Systems, error) {
	s := t.Settings
	on := promote.Systems{Cancelled: t.Cancelled, Sources: analysisSources(t)}
	if s.Checkout {
		on.Branch = forges.CheckedOut{Folder: t.Workflow.Workspace}
	} else {
		found, err := t.Open()
		if err != nil {
			return on, err
		}
		on.Branch, on.Commits, on.Facts.Git = t.Written(found), found, found
		on.Has = commitsOf(found)
		on.SourceHas = on.Has
		if s.AsksForge(t.Workflow) {
			on.Facts.BranchRules = forges.Rules{Infra: found.forge, Branch: s.Remote.Branch}
		}
		if on.Reviews, err = forges.Reviews(s, t.Workflow, t.Console, found.Repo, page); err != nil {
			return on, err
		}
	}
	if branch := s.Promote.FromBranch; branch != "" && branch != s.Remote.Branch {
		found, err := t.OpenBranch(branch)
		if err != nil {
			return on, err
		}
		on.SourceBranch, on.SourceHas = found, commitsOf(found)
	}
	if len(s.Promote.Checks) > 0 {
		found, err := forges.OpenInfra(s, t.Workflow, t.Console, github.Statuses)
		if err != nil {
			return on, err
		}
		on.Statuses = forges.Statuses{Infra: found}
	}
	if err := connectPrometheus(t, &on); err != nil {
		return on, err
	}
	return on, t.observe(&on)
}

// commitsOf tells which commits a branch has.
func commitsOf(branch *Branch) source.Has {
	return func(ctx context.Context, commit string) (bool, error) {
		return gitops.OnBranch(ctx, branch.Repo, commit)
	}
}

// Written is a branch that gets commits as the settings want them.
func (t Task) Written(branch *Branch) promote.Branch {
	s := t.Settings
	branch.Author, branch.Committer = s.Author, s.Committer
	if signer := s.Promote.Signer; signer != nil {
		branch.Sign = signer.Sign
	}
	if s.Commit == inputs.CommitAPI {
		branch.API = branch.forge.Commit
	}
	return forges.Masked{Branch: forges.Traced{Branch: branch, Console: t.Console}, Redact: t.Console.Redact}
}

// analysisSources are what AnalysisTemplates measure with. Without Argo CD nobody could
// start a Job, which a plan and a check do without.
func analysisSources(t Task) analysis.Sources {
	return analysis.Sources{
		Web:        analysis.Web{Client: web.Client{Around: t.Console.Trace("analysis")}},
		Prometheus: analysis.Prometheus{Default: t.Settings.Prometheus, Around: t.Console.Trace("Prometheus")},
		Job: analysis.Job{Run: func(context.Context, string) (analysis.JobEnd, error) {
			return analysis.JobEnd{}, errors.New("no argocd-server and application are given")
		}},
	}
}

// observe makes the clients of Argo CD, where there is one.
func (t Task) observe(on *promote.Systems) error {
	if t.Settings.Argo.Server == "" || t.Settings.Promote.Unseen {
		return nil
	}
	cluster, err := t.argoCD(t.Settings.Argo)
	if err != nil {
		return err
	}
	on.Cluster, on.Facts.Setup, on.Facts.Renderer, on.Evidence = cluster, cluster, cluster, cluster
	sources := sourceClusters{cluster, map[string]otherArgo{}}
	for overlay, there := range t.Settings.SourceArgos {
		other, err := t.argoCD(there)
		if err != nil {
			return err
		}
		sources.others[overlay] = otherArgo{other, there.Server}
	}
	on.SourceCluster = sources
	on.Sources.Job = analysis.Job{Run: func(ctx context.Context, cronJob string) (analysis.JobEnd, error) {
		end, err := cluster.RunJob(ctx, t.Settings.Target.App, cronJob)
		return analysis.JobEnd(end), err
	}}
	return nil
}

// argoCD makes the client of one Argo CD.
func (t Task) argoCD(c argo.Config) (*argo.Client, error) {
	c.UserAgent, c.Wrap = "knative-promote/"+version.Of(), t.Console.Trace("Argo CD")
	client, err := argo.New(c)
	return client, badSetting(err)
}

// connectPrometheus makes the client of Prometheus, where there is one.
func connectPrometheus(t Task, on *promote.Systems) error {
	c := t.Settings.Prometheus
	if c.Address == "" {
		return nil
	}
	c.Around = t.Console.Trace("Prometheus")
	client, err := prometheus.New(c)
	if err == nil {
		on.Metrics = client
	}
	return badSetting(err)
}
