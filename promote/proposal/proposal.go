package proposal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/acme/knative-promote/promote/windows"
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
	base, head gitops.Snapshot
	was, is    check.Pipeline // the pipeline file at the base, and at the head
	policies   policy.Set
}

// Propose reads the pipeline file and, at the head, which is to be merged into the base, the
// policies. The error is bad input, with a Proposal that has no policies, or of reading the repository.
func Propose(c Settings, base, head gitops.Snapshot) (Proposal, error) {
	p := Proposal{settings: c, base: base, head: head}
	var err error
	if p.was, err = facts.PipelineOf(base, c.Guards.Keys); err != nil {
		return p, fmt.Errorf("at commit %.10s: %w", base.Commit.Hash, err)
	}
	if p.is, err = facts.PipelineOf(head, c.Guards.Keys); err != nil {
		return p, err
	}
	if p.asksPolicies() {
		p.policies, err = facts.ReadPolicies(head.Tree, c.Policies)
	}
	return p, err
}

func (p Proposal) asksPolicies() bool {
	return facts.AsksPolicies(p.settings.Policies, p.settings.Skip)
}

// ChangesPolicies tells whether one of the changed files is a policy's, so that it
// concerns overlays too that stay as they are.
func (p Proposal) ChangesPolicies(changed []string) bool {
	return p.asksPolicies() && slices.ContainsFunc(changed, func(file string) bool { return policy.Matches(p.settings.Policies, file) })
}

// Manifests finds what is wrong with what the head renders of an overlay. Each object
// that the base rendered too is an update of that.
func (p Proposal) Manifests(ctx context.Context, overlay string, before, after []byte) ([]event.Finding, error) {
	is, err := p.facts(ctx, p.head, overlay, after, "")
	if err != nil {
		return nil, err
	}
	if is.Before, err = knative.Rendered(ctx, p.base.Tree, overlay, before, ""); err != nil {
		return nil, err
	}
	if is.Denials, err = facts.Denials(ctx, p.policies, "", is.Before, is.Overlay); err != nil {
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
	outsideBefore, _ := kustomize.Outside(ctx, p.base.Tree, overlay) // may be new, or not render
	outsideAfter, _ := kustomize.Outside(ctx, p.head.Tree, overlay)  // has been rendered
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
		was.Differs, is.Differs = differsBefore, differsAfter
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

// A FileChange is what a Proposal changes of a file of the infra repository that
// runs go by. The zero value is nothing.
type FileChange struct {
	File           string
	Findings       []event.Finding
	Removed, Added []string // what it says, in words
}

// Windows say what the head changes of the windows, and what is wrong with them
// then. The error is of reading the repository.
func (p Proposal) Windows() (FileChange, error) {
	file := p.settings.Guards.File()
	before, unreadBefore, err := p.schedule(p.base)
	if err != nil {
		return FileChange{}, fmt.Errorf("at commit %.10s: %w", p.base.Commit.Hash, err)
	}
	after, unread, err := p.schedule(p.head)
	if err != nil || !p.changes(file) && !broken(unreadBefore, unread) {
		return FileChange{}, err
	}
	change := FileChange{File: file}
	if unread != nil {
		facts := check.Facts{Windows: check.Windows{File: file, Unreadable: unread}}
		change.Findings = check.Proposed(facts, p.settings.Skip...)
		return change, nil
	}
	change.Findings = p.misnamed(file, after)
	difference := windows.Compare(before, after) // of what could not be read: nothing
	change.Removed, change.Added = difference.Removed, difference.Added
	return change, nil
}

// schedule are the windows of a commit, or why they cannot be read. The error is of reading the repository.
func (p Proposal) schedule(at gitops.Snapshot) (schedule windows.Schedule, unread, err error) {
	schedule, _, err = p.settings.Guards.Schedule(at)
	if freeze, is := errors.AsType[*guard.FreezeError](err); is {
		return schedule, freeze.Err, nil
	}
	return schedule, nil, err
}

// broken tells whether a file that runs go by can be read no more. A run refuses it also for what stands
// beside its name, such as one of another ending.
func broken(before, after error) bool { return after != nil && before == nil }

// misnamed finds environments in the head's windows that nothing is called.
func (p Proposal) misnamed(file string, is windows.Schedule) []event.Finding {
	return check.Proposed(check.Facts{Windows: check.Windows{File: file, Named: is.Environments()}, Pipeline: check.Pipeline{File: p.is.File}, Tree: p.head.Tree}, p.settings.Skip...)
}

// changes tells whether a file is another one at the head.
func (p Proposal) changes(file string) bool {
	was, errWas := fs.ReadFile(p.base.Tree, file)
	is, errIs := fs.ReadFile(p.head.Tree, file)
	return (errWas == nil) != (errIs == nil) || !bytes.Equal(was, is)
}

// Pipeline says what the head changes of the pipeline file, and what is wrong with
// it then.
func (p Proposal) Pipeline() FileChange {
	if !p.changes(pipeline.Name) && !broken(p.was.Unreadable, p.is.Unreadable) {
		return FileChange{}
	}
	change := FileChange{File: pipeline.Name}
	change.Findings = check.Proposed(check.Facts{Pipeline: p.is, Tree: p.head.Tree}, p.settings.Skip...)
	if p.is.Unreadable == nil {
		change.Removed, change.Added = pipeline.Compare(p.was.File, p.is.File)
	}
	return change
}
