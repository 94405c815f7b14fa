package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/review"
)

// MergePull has a pull request merged with this message, now or by the merge queue, unless its
// head has changed. What the branch's rules do not allow yet is [review.ErrNotMergeable]:
// auto-merge, which would wait for that, outlasts a push of somebody who may write
// (https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request).
func (c *Client) MergePull(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
	how, err := mergeOnce(ctx, c, p, title, body)
	switch {
	case err == nil || errors.Is(err, review.ErrNotMergeable):
		return how, err
	case said(err) != "":
		return "", fmt.Errorf("%w: %w", review.ErrNotMergeable, err)
	}
	return "", fmt.Errorf("merging pull request %d of %s/%s: %w", p.Number, c.owner, c.name, c.Explain(err, MayPropose))
}

func mergeOnce(ctx context.Context, c *Client, p review.PullRequest, title, body string) (review.Merging, error) {
	if p.Block == review.Draft {
		return "", fmt.Errorf("%w: it is a draft: mark it as ready for review", review.ErrNotMergeable)
	}
	if _, err := mergeMethod(ctx, c, p); err != nil {
		return "", err
	}
	// Where there is a queue, GitHub says of what may be put into it that it is blocked too.
	err := mutate(ctx, c, "enqueuePullRequest", "EnqueuePullRequestInput", map[string]any{"pullRequestId": p.Node, "expectedHeadOid": p.Head})
	switch words := said(err); {
	case err == nil || strings.Contains(strings.ToLower(words), "already in the queue"):
		return review.Queued, nil
	case words == "":
		return "", err
	case p.Block == review.Blocked:
		return "", fmt.Errorf("%w: reviews or statuses are missing that the branch's rules want", review.ErrNotMergeable)
	case !p.Clean: // whoever may bypass the rules would merge it without them
		return review.Asked, nil
	}
	return mergeNow(ctx, c, p, title, body)
}

// mergeNow merges what has all that the rules want.
func mergeNow(ctx context.Context, c *Client, p review.PullRequest, title, body string) (review.Merging, error) {
	method, err := mergeMethod(ctx, c, p)
	if err != nil {
		return "", err
	}
	err = mutate(ctx, c, "mergePullRequest", "MergePullRequestInput", map[string]any{
		"pullRequestId": p.Node, "mergeMethod": method, "expectedHeadOid": p.Head, "commitHeadline": title, "commitBody": body,
	})
	switch words := strings.ToLower(said(err)); {
	case err == nil:
		return review.Done, nil
	case strings.Contains(words, "was modified"), strings.Contains(words, "already merged"):
		return review.Asked, nil
	}
	return "", err
}

// mutate calls a mutation of GraphQL.
func mutate(ctx context.Context, c *Client, name, kind string, input map[string]any) error {
	query := fmt.Sprintf("mutation($input: %s!) { %s(input: $input) { clientMutationId } }", kind, name)
	return queryGraphQL(ctx, c, query, map[string]any{"input": input}, nil)
}

// mergeMethod is how the repository merges. A pull request of one commit gets our
// message by a squash. It is asked right before a merge, as one whose base is another branch now
// would be merged into that: GitHub takes the head that it is to merge, and no base.
func mergeMethod(ctx context.Context, c *Client, p review.PullRequest) (string, error) {
	var data struct {
		Node struct {
			BaseRefName string
			Repository  struct{ SquashMergeAllowed, MergeCommitAllowed bool }
		}
	}
	const query = "query($id: ID!) { node(id: $id) { ... on PullRequest { baseRefName repository { squashMergeAllowed mergeCommitAllowed } } } }"
	if err := queryGraphQL(ctx, c, query, map[string]any{"id": p.Node}, &data); err != nil {
		return "", err
	}
	switch r := data.Node.Repository; {
	case data.Node.BaseRefName != p.Base:
		return "", p.OtherBase(data.Node.BaseRefName)
	case r.SquashMergeAllowed:
		return "SQUASH", nil
	case r.MergeCommitAllowed:
		return "MERGE", nil
	}
	return "REBASE", nil
}

// Dequeue takes a pull request out of the merge queue. Where it is in none, it does nothing.
func (c *Client) Dequeue(ctx context.Context, p review.PullRequest) error {
	err := mutate(ctx, c, "dequeuePullRequest", "DequeuePullRequestInput", map[string]any{"id": p.Node})
	if err == nil || said(err) != "" { // it says so
		return nil
	}
	return fmt.Errorf("taking pull request %d of %s/%s out of the merge queue: %w", p.Number, c.owner, c.name, c.Explain(err, MayPropose))
}
