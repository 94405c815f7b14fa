package proposal

import (
	"context"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/policy"
)

// Settings are what a run is asked for, as far as what a pull request proposes is
// looked at and prepared by it.
type Settings struct {
	plan.Settings
	Source      argo.Source    // where the overlays are
	Guards      guard.Settings // which name the windows' file, and how the pipeline file is read
	Policies    []string       // patterns of the files with ValidatingAdmissionPolicies
	PodSecurity string         // the pod security standard to hold; empty: none
	Strict      bool           // a field that no kind has is an error
	Probed      bool           // the candidate is probed
	Skip        []string       // rules of the check that are not asked
	Reason      string         // why, for the commits
}

// A Proposal is a commit that is not on the branch yet, such as a pull request's.
// It is looked at as the check looks at what is on the branch.
type Proposal struct {
	settings   Settings
	pull       Pull
	base, head gitops.Snapshot // of that
	was, is    check.Pipeline  // the pipeline file at the base, and at the head
	policies   policy.Set
}

// Propose reads the pipeline file and, in what the merge would be, the policies. The error is bad
// input, with a Proposal that has no policies, or of reading the repository.
func Propose(ctx context.Context, c Settings, pull Pull) (Proposal, error) {
	p := Proposal{settings: c, pull: pull, base: pull.Base, head: pull.Merged}
	var err error
	if p.was, p.is, err = pipelines(c.Guards.Keys, p.base, p.head); err != nil {
		return p, err
	}
	for at, of := range map[*check.Pipeline]gitops.Snapshot{&p.was: p.base, &p.is: p.head} {
		at.Unread = check.Unreadable(ctx, of.Tree, at.File)
	}
	if err = ctx.Err(); err == nil && p.asksPolicies() {
		p.policies, err = facts.ReadPolicies(ctx, p.head.Tree, c.Policies)
	}
	return p, err
}

// Deploys tells whether a folder is an overlay that the pipeline file names, before or after.
func (p Proposal) Deploys(folder string) bool {
	return p.was.File.Deploys(folder) || p.is.File.Deploys(folder)
}

// Deployed is what tells whether a folder is an overlay that the pipeline file of one of two commits names. The error is
// of reading the repository.
func Deployed(keys pipeline.Keys, base, head gitops.Snapshot) (func(folder string) bool, error) {
	was, is, err := pipelines(keys, base, head)
	return Proposal{was: was, is: is}.Deploys, err
}

// pipelines are the pipeline files of two commits.
func pipelines(keys pipeline.Keys, base, head gitops.Snapshot) (was, is check.Pipeline, err error) {
	if was, err = facts.PipelineOf(base, keys); err != nil {
		return was, is, fmt.Errorf("at commit %.10s: %w", base.Commit.Hash, err)
	}
	is, err = facts.PipelineOf(head, keys)
	return was, is, err
}

func (p Proposal) asksPolicies() bool {
	return facts.AsksPolicies(p.settings.Policies, p.settings.Skip)
}

// Manifests finds what is wrong with what the head renders of an overlay. Each object
// that the base rendered too is an update of that.
func (p Proposal) Manifests(ctx context.Context, overlay string, before, after []byte) ([]event.Finding, error) {
	is, err := p.facts(ctx, p.head, overlay, after, "")
	if err != nil {
		return nil, err
	}
	if is.Reads, _, err = kustomize.Reads(ctx, p.head.Tree, overlay); err != nil {
		return nil, err
	}
	if is.Before, err = knative.Rendered(ctx, p.base.Tree, overlay, before, ""); err != nil {
		return nil, err
	}
	if is.Policies, err = facts.Judged(ctx, p.policies, "", is.Before, is.Overlay); err != nil {
		return nil, err
	}
	return check.Proposed(is, p.settings.Skip...), nil
}

// Brought is what the head breaks of the rules that need no more than files, for
// each Service of the overlay. What the base breaks too is left out.
func (p Proposal) Brought(ctx context.Context, overlay string, before, after []byte) ([]event.Finding, error) {
	services, err := servicesOf(before, after)
	if err != nil {
		return nil, err
	}
	readsBefore, outsideBefore, _ := kustomize.Reads(ctx, p.base.Tree, overlay) // may be new, or not render
	readsAfter, outsideAfter, _ := kustomize.Reads(ctx, p.head.Tree, overlay)   // has been rendered
	differsBefore, _ := kustomize.Differences(ctx, p.base.Tree, overlay)
	differsAfter, err := kustomize.Differences(ctx, p.head.Tree, overlay)
	if err != nil {
		return nil, err
	}
	var all []event.Finding
	for _, service := range services {
		was, err := p.facts(ctx, p.base, overlay, before, service)
		if err != nil {
			return nil, err
		}
		is, err := p.facts(ctx, p.head, overlay, after, service)
		if err != nil {
			return nil, err
		}
		was.Outside, is.Outside, was.Before, is.Before = outsideBefore, outsideAfter, was.Overlay, was.Overlay
		was.Reads, is.Reads = readsBefore, readsAfter
		was.Differs, is.Differs, was.Pipeline, is.Pipeline = differsBefore, differsAfter, p.was, p.is
		if is.Refused = p.unusable(ctx, was.Overlay, is.Overlay); is.Refused == nil && gone(is.Overlay) {
			continue
		}
		for _, finding := range check.Brought(was, is, p.settings.Skip...) {
			if !slices.Contains(all, finding) { // of the overlay, whatever the Service
				all = append(all, finding)
			}
		}
	}
	return all, nil
}

// facts are what the files of a commit say of an overlay and of a Service in it.
func (p Proposal) facts(ctx context.Context, at gitops.Snapshot, overlay string, rendered []byte, service string) (check.Facts, error) {
	state, err := knative.Rendered(ctx, at.Tree, overlay, rendered, service)
	c := p.settings
	facts := check.Facts{
		Request: check.Request{
			Overlay: overlay, CandidateTag: c.CandidateTag, KeepPrevious: c.KeepPrevious, Probed: c.Probed,
			Strict: c.Strict, PodSecurity: c.PodSecurity, Policies: c.Policies,
		},
		Commit: at.Commit.Hash, Tree: at.Tree, Overlay: state, Next: state,
	}
	facts.Request.Service = service
	return facts, err
}
