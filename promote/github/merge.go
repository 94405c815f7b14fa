package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/review"
)

// MergePull has a pull request merged with this message, as soon as the branch's
// rules allow it, unless its head has changed.
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
	method, err := mergeMethod(ctx, c, p)
	if err != nil {
		return "", err
	}
	input := map[string]any{"pullRequestId": p.Node, "mergeMethod": method, "expectedHeadOid": p.Head, "commitHeadline": title, "commitBody": body}
	err = mutate(ctx, c, "enablePullRequestAutoMerge", "EnablePullRequestAutoMergeInput", input)
	if err == nil || strings.Contains(strings.ToLower(said(err)), "already enabled") {
		return review.Scheduled, nil
	}
	if said(err) == "" {
		return "", err
	}
	auto := said(err)
	// Refused where there is nothing to wait for ("Pull request is in clean
	// status"), and where the repository does not allow it
	// (https://github.com/cli/cli/issues/3706).
	err = mutate(ctx, c, "enqueuePullRequest", "EnqueuePullRequestInput", map[string]any{"pullRequestId": p.Node, "expectedHeadOid": p.Head})
	if err == nil || strings.Contains(strings.ToLower(said(err)), "already in the queue") {
		return review.Queued, nil
	}
	if said(err) == "" {
		return "", err
	}
	switch {
	case p.Block == review.Draft:
		return "", fmt.Errorf("%w: %s: it is a draft: mark it as ready for review", review.ErrNotMergeable, auto)
	case p.Block == review.Blocked:
		return "", fmt.Errorf("%w: %s: reviews or statuses are missing that the branch's rules want: allow auto-merge in the repository's settings, or merge it by hand", review.ErrNotMergeable, auto)
	case !p.Clean: // whoever may bypass the rules would merge it without them
		return review.Asked, nil
	}
	err = mutate(ctx, c, "mergePullRequest", "MergePullRequestInput", input)
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
// message by a squash.
func mergeMethod(ctx context.Context, c *Client, p review.PullRequest) (string, error) {
	var data struct {
		Node struct {
			Repository struct{ SquashMergeAllowed, MergeCommitAllowed bool }
		}
	}
	const query = "query($id: ID!) { node(id: $id) { ... on PullRequest { repository { squashMergeAllowed mergeCommitAllowed } } } }"
	if err := queryGraphQL(ctx, c, query, map[string]any{"id": p.Node}, &data); err != nil {
		return "", err
	}
	switch r := data.Node.Repository; {
	case r.SquashMergeAllowed:
		return "SQUASH", nil
	case r.MergeCommitAllowed:
		return "MERGE", nil
	}
	return "REBASE", nil
}

// CancelMerge keeps the forge from merging a pull request by itself. Where
// nothing is to be cancelled, it does nothing.
func (c *Client) CancelMerge(ctx context.Context, p review.PullRequest) error {
	auto := mutate(ctx, c, "disablePullRequestAutoMerge", "DisablePullRequestAutoMergeInput", map[string]any{"pullRequestId": p.Node})
	queue := mutate(ctx, c, "dequeuePullRequest", "DequeuePullRequestInput", map[string]any{"id": p.Node})
	var err error
	for _, failed := range []error{auto, queue} {
		if said(failed) == "" { // it says so where there is none
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		return fmt.Errorf("keeping pull request %d of %s/%s from being merged: %w", p.Number, c.owner, c.name, c.Explain(err, MayPropose))
	}
	return nil
}
