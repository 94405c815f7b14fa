package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/acme/knative-promote/cmd/knative-promote/forges"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/analysis/web"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/setting"
)

// connect makes what a run works on: the infra repository and Argo CD, which a
// plan alone can do without. Page is what pull requests say.
func (t task) connect(page func() string) (promote.Systems, error) {
	s := t.settings
	on := promote.Systems{Cancelled: t.cancelled, Sources: analysisSources(t)}
	if s.Checkout {
		on.Branch = forges.CheckedOut{Folder: t.workflow.Workspace}
	} else {
		found, err := t.open()
		if err != nil {
			return on, badSetting(err)
		}
		on.Branch, on.Commits, on.Facts.PushRight = t.written(found), found, found
		if s.AsksForge(t.workflow) {
			on.Facts.BranchRules = forges.Rules{Infra: found.forge, Branch: s.Remote.Branch}
		}
		if on.Reviews, err = forges.Reviews(s, t.workflow, t.console, found.Repo, page); err != nil {
			return on, err
		}
	}
	if branch := s.Promote.FromBranch; branch != "" && branch != s.Remote.Branch {
		there := s
		there.Remote.Branch = branch
		found, err := open(there, t.workflow, t.console)
		if err != nil {
			return on, badSetting(err)
		}
		on.SourceBranch = found
	}
	if len(s.Promote.Checks) > 0 {
		found, err := forges.OpenInfra(s, t.workflow, t.console, github.Statuses)
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

// open opens the infra repository, unless it is open already.
func (t task) open() (*infraBranch, error) {
	if t.infra != nil {
		return t.infra, nil
	}
	return open(t.settings, t.workflow, t.console)
}

// written is a branch that gets commits as the settings want them.
func (t task) written(branch *infraBranch) promote.Branch {
	s := t.settings
	branch.Author, branch.Committer = s.Author, s.Committer
	if signer := s.Promote.Signer; signer != nil {
		branch.Sign = signer.Sign
	}
	if s.Commit == inputs.CommitAPI {
		branch.API = branch.forge.Commit
	}
	return forges.Masked{Branch: forges.Traced{Branch: branch, Console: t.console}, Redact: t.console.Redact}
}

// analysisSources are what AnalysisTemplates measure with. Without Argo CD nobody could
// start a Job, which a plan and a check do without.
func analysisSources(t task) analysis.Sources {
	return analysis.Sources{
		Web:        analysis.Web{Client: web.Client{Around: t.console.Trace("analysis")}},
		Prometheus: analysis.Prometheus{Default: t.settings.Prometheus, Around: t.console.Trace("Prometheus")},
		Job: analysis.Job{Run: func(context.Context, string) (analysis.JobEnd, error) {
			return analysis.JobEnd{}, errors.New("no argocd-server and application are given")
		}},
	}
}

// observe makes the clients of Argo CD, where there is one.
func (t task) observe(on *promote.Systems) error {
	if t.settings.Argo.Server == "" || t.settings.Promote.Unseen {
		return nil
	}
	cluster, err := t.argoCD(t.settings.Argo)
	if err != nil {
		return err
	}
	on.Cluster, on.Facts.Setup, on.Evidence = cluster, cluster, cluster
	sources := sourceClusters{cluster, map[string]otherArgo{}}
	for overlay, there := range t.settings.SourceArgos {
		other, err := t.argoCD(there)
		if err != nil {
			return err
		}
		sources.others[overlay] = otherArgo{other, there.Server}
	}
	on.SourceCluster = sources
	on.Sources.Job = analysis.Job{Run: func(ctx context.Context, cronJob string) (analysis.JobEnd, error) {
		end, err := cluster.RunJob(ctx, t.settings.Target.App, cronJob)
		return analysis.JobEnd(end), err
	}}
	return nil
}

// argoCD makes the client of one Argo CD.
func (t task) argoCD(c argo.Config) (*argo.Client, error) {
	c.UserAgent, c.Wrap = "knative-promote/"+versionOf(), t.console.Trace("Argo CD")
	client, err := argo.New(c)
	return client, badSetting(err)
}

// connectPrometheus makes the client of Prometheus, where there is one.
func connectPrometheus(t task, on *promote.Systems) error {
	c := t.settings.Prometheus
	if c.Address == "" {
		return nil
	}
	c.Around = t.console.Trace("Prometheus")
	client, err := prometheus.New(c)
	if err == nil {
		on.Metrics = client
	}
	return badSetting(err)
}

// badSetting is the error of a client that cannot be made. Nobody has been asked
// by then, so it is the inputs that are wrong, unless a file could not be
// written.
func badSetting(err error) error {
	if err == nil || is[*fs.PathError](err) {
		return err
	}
	return &setting.InputError{Err: err}
}

// open opens the infra repository, with tokens of the GitHub App where there is
// one. Its forge is asked with the same tokens.
func open(s inputs.Settings, w console.Workflow, r *console.Console) (*infraBranch, error) {
	forge, err := forges.OpenInfra(s, w, r, github.Contents)
	if err != nil {
		return nil, err
	}
	remote := s.Remote
	remote.Around, remote.Exchanged = r.Trace("Git"), r.Exchanged("Git", remote.URL)
	if s.App.ID != "" {
		remote.Mint = forge.Token
	}
	repo, err := gitops.Open(remote)
	return &infraBranch{Repo: repo, forge: forge}, err
}
