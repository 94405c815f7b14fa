package forges

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/gitea"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/report"
	"github.com/acme/knative-promote/promote/review"
)

// Reviews brings commits into the infra repository by pull requests, which say
// what the page says. Where they are pushed, they are asked for those that are open; nil:
// there is no forge to ask.
func Reviews(s inputs.Settings, w console.Workflow, c *console.Console, repo *gitops.Repo, page func() string) (pull.Reviews, error) {
	if !s.Reviewed() && !s.AsksForge(w) || page == nil {
		return nil, nil
	}
	on, err := OpenInfra(s, w, c, github.Pulls)
	if err != nil {
		return nil, err
	}
	body := func(message string) string { return page() + "\n\n" + report.Verbatim(message) }
	quote := func(text string) string { return report.Inline(c.Redact(text)) }
	return maskedReviews{review.Reviews{
		Repo: repo, Forge: on.reviewed(), Branch: s.Remote.Branch, Merge: s.Promote.Merge, Timeout: s.Promote.MergeTimeout, Body: body, Quote: quote,
	}, repo, c}, nil
}

// Rules are the forge's rules of the infra repository's branch.
type Rules struct {
	*Infra
	Branch string
}

// BranchRules asks for them.
func (b Rules) BranchRules(ctx context.Context) (review.Rules, error) {
	return asked(ctx, b.Infra, func(c *github.Client) (review.Rules, error) { return b.pulls(c).BranchRules(ctx, b.Branch) })
}

// maskedReviews keeps secrets out of what pull requests say, as masked does of
// commits.
type maskedReviews struct {
	review.Reviews
	repo    *gitops.Repo
	console *console.Console
}

// OnBranch tells whether the branch has a commit.
func (m maskedReviews) OnBranch(ctx context.Context, commit string) (bool, error) {
	return gitops.OnBranch(ctx, m.repo, commit)
}

// Publish brings the change into the branch.
func (m maskedReviews) Publish(ctx context.Context, change gitops.Change, p review.Proposal) (gitops.Commit, error) {
	return m.Reviews.Publish(ctx, tracedChange(maskedChange(change, m.console.Redact), m.console), p)
}

// pullForge has pull requests, and rules of branches. Forges do this each in their own way.
type pullForge interface {
	BranchRules(ctx context.Context, branch string) (review.Rules, error)
	OpenPulls(ctx context.Context, base, prefix string) ([]review.PullRequest, error)
	Open(context.Context, review.NewPull) (review.PullRequest, error)
	Pull(ctx context.Context, number int) (review.PullRequest, error)
	ClosePull(ctx context.Context, number int, comment string) error
	MergePull(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error)
	Dequeue(context.Context, review.PullRequest) error
	DeleteBranch(ctx context.Context, branch string) error
}

// pulls are those of the forge that a client speaks to.
func (f *Infra) pulls(client *github.Client) pullForge {
	if gitea.Is(f.api) {
		return gitea.Client{Client: client}
	}
	return client
}

// reviewed are the functions of GitHub's client that pull requests need: see gitHub.
func (f *Infra) reviewed() review.Forge {
	return review.Forge{
		OpenPulls: func(ctx context.Context, base, prefix string) (open []review.PullRequest, err error) {
			return asked(ctx, f, func(c *github.Client) ([]review.PullRequest, error) { return f.pulls(c).OpenPulls(ctx, base, prefix) })
		},
		Open: func(ctx context.Context, p review.NewPull) (review.PullRequest, error) {
			return asked(ctx, f, func(c *github.Client) (review.PullRequest, error) { return f.pulls(c).Open(ctx, p) })
		},
		Pull: func(ctx context.Context, number int) (review.PullRequest, error) {
			return asked(ctx, f, func(c *github.Client) (review.PullRequest, error) { return f.pulls(c).Pull(ctx, number) })
		},
		ClosePull: func(ctx context.Context, number int, comment string) error {
			_, err := asked(ctx, f, func(c *github.Client) (struct{}, error) {
				return struct{}{}, f.pulls(c).ClosePull(ctx, number, comment)
			})
			return err
		},
		MergePull: func(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
			return asked(ctx, f, func(c *github.Client) (review.Merging, error) { return f.pulls(c).MergePull(ctx, p, title, body) })
		},
		DeleteBranch: func(ctx context.Context, branch string) error {
			_, err := asked(ctx, f, func(c *github.Client) (struct{}, error) { return struct{}{}, f.pulls(c).DeleteBranch(ctx, branch) })
			return err
		},
		Dequeue: func(ctx context.Context, p review.PullRequest) error {
			_, err := asked(ctx, f, func(c *github.Client) (struct{}, error) { return struct{}{}, f.pulls(c).Dequeue(ctx, p) })
			return err
		},
	}
}

// asked asks the forge with a token that is good now. Its errors are remote.ErrAuth
// too, as that token is the one for Git.
func asked[T any](ctx context.Context, f *Infra, ask func(*github.Client) (T, error)) (T, error) {
	client, err := f.client(ctx)
	if err != nil {
		var none T
		return none, err
	}
	answer, err := ask(client)
	if _, denied := errors.AsType[*github.DeniedError](err); denied {
		err = fmt.Errorf("%w: %w", remote.ErrAuth, err)
	}
	return answer, err
}
