package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/acme/knative-promote/promote/review"
)

// MergePull has a pull request merged with this message, as soon as the branch's
// rules allow it, unless its head has changed.
func (c *Client) MergePull(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
	how, err := c.mergePull(ctx, p, title, body)
	switch {
	case err == nil || errors.Is(err, review.ErrNotMergeable):
		return how, err
	case said(err) != "":
		return "", fmt.Errorf("%w: %w", review.ErrNotMergeable, err)
	}
	return "", fmt.Errorf("merging pull request %d of %s/%s: %w", p.Number, c.owner, c.name, c.explain(err, mayPropose))
}

func (c *Client) mergePull(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
	if c.isGitea() {
		return c.mergeOnGitea(ctx, p, title, body)
	}
	method, err := c.method(ctx, p)
	if err != nil {
		return "", err
	}
	input := map[string]any{"pullRequestId": p.Node, "mergeMethod": method, "expectedHeadOid": p.Head, "commitHeadline": title, "commitBody": body}
	err = c.mutate(ctx, "enablePullRequestAutoMerge", "EnablePullRequestAutoMergeInput", input)
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
	err = c.mutate(ctx, "enqueuePullRequest", "EnqueuePullRequestInput", map[string]any{"pullRequestId": p.Node, "expectedHeadOid": p.Head})
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
	err = c.mutate(ctx, "mergePullRequest", "MergePullRequestInput", input)
	switch words := strings.ToLower(said(err)); {
	case err == nil:
		return review.Done, nil
	case strings.Contains(words, "was modified"), strings.Contains(words, "already merged"):
		return review.Asked, nil
	}
	return "", err
}

// mutate calls a mutation of GraphQL.
func (c *Client) mutate(ctx context.Context, name, kind string, input map[string]any) error {
	query := fmt.Sprintf("mutation($input: %s!) { %s(input: $input) { clientMutationId } }", kind, name)
	return c.graphQL(ctx, query, map[string]any{"input": input}, nil)
}

// method is how the repository merges. A pull request of one commit gets our
// message by a squash.
func (c *Client) method(ctx context.Context, p review.PullRequest) (string, error) {
	var data struct {
		Node struct {
			Repository struct{ SquashMergeAllowed, MergeCommitAllowed bool }
		}
	}
	const query = "query($id: ID!) { node(id: $id) { ... on PullRequest { repository { squashMergeAllowed mergeCommitAllowed } } } }"
	if err := c.graphQL(ctx, query, map[string]any{"id": p.Node}, &data); err != nil {
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
	var err error
	if c.isGitea() {
		err = c.send(ctx, http.MethodDelete, c.mergeOf(p), nil)
		if status(err) == http.StatusNotFound {
			err = nil
		}
	} else {
		auto := c.mutate(ctx, "disablePullRequestAutoMerge", "DisablePullRequestAutoMergeInput", map[string]any{"pullRequestId": p.Node})
		queue := c.mutate(ctx, "dequeuePullRequest", "DequeuePullRequestInput", map[string]any{"id": p.Node})
		for _, failed := range []error{auto, queue} {
			if said(failed) == "" { // it says so where there is none
				err = errors.Join(err, failed)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("keeping pull request %d of %s/%s from being merged: %w", p.Number, c.owner, c.name, c.explain(err, mayPropose))
	}
	return nil
}

func (c *Client) mergeOf(p review.PullRequest) string {
	return fmt.Sprintf("repos/%s/%s/pulls/%d/merge", c.owner, c.name, p.Number)
}

// mergeOnGitea is the same for Gitea and Forgejo
// (https://docs.gitea.com/api/#tag/repository/operation/repoMergePullRequest).
func (c *Client) mergeOnGitea(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
	style, err := c.giteaStyle(ctx)
	if err != nil {
		return "", err
	}
	request, err := c.api.NewRequest(http.MethodPost, c.mergeOf(p), map[string]any{
		"Do": style, "MergeTitleField": title, "MergeMessageField": body, "merge_when_checks_succeed": true, "head_commit_id": p.Head,
	})
	if err != nil {
		return "", err
	}
	switch code, err := succeeded(c.api.Do(ctx, request, nil)); {
	case err != nil:
		return c.refusedByGitea(err)
	case code == http.StatusCreated:
		return review.Scheduled, nil
	}
	return review.Done, nil
}

// giteaStyle is how the repository merges. Gitea schedules a style that it does not
// allow too, and then never merges. Its settings have other names than GitHub's.
func (c *Client) giteaStyle(ctx context.Context) (string, error) {
	var allows struct {
		Squash      bool `json:"allow_squash_merge"`
		Merge       bool `json:"allow_merge_commits"`
		Rebase      bool `json:"allow_rebase"`
		RebaseMerge bool `json:"allow_rebase_explicit"`
	}
	if err := c.read(ctx, fmt.Sprintf("repos/%s/%s", c.owner, c.name), &allows); err != nil {
		return "", err
	}
	switch {
	case allows.Squash:
		return "squash", nil
	case allows.Merge:
		return "merge", nil
	case allows.Rebase:
		return "rebase", nil
	case allows.RebaseMerge:
		return "rebase-merge", nil
	}
	return "fast-forward-only", nil
}

// succeeded is the status of a success, which may have said nothing more.
func succeeded(answer *github.Response, err error) (int, error) {
	if empty, ok := errors.AsType[*emptyError](err); ok {
		return empty.status, nil
	}
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, nil
}

// refusedByGitea is what becomes of a pull request that Gitea does not merge.
func (c *Client) refusedByGitea(err error) (review.Merging, error) {
	words := strings.ToLower(giteaSays(err))
	switch code := status(err); {
	case code == http.StatusConflict && strings.Contains(words, "scheduled"):
		return review.Scheduled, nil
	case code == http.StatusMethodNotAllowed && strings.Contains(words, "try again"), code == http.StatusConflict:
		return review.Asked, nil
	case code == http.StatusMethodNotAllowed:
		return "", fmt.Errorf("%w: %s", review.ErrNotMergeable, c.clean(giteaSays(err)))
	}
	return "", err
}

func giteaSays(err error) string {
	if refusal, ok := errors.AsType[*github.ErrorResponse](err); ok {
		return refusal.Message
	}
	return ""
}

// send sends a request whose answer does not matter.
func (c *Client) send(ctx context.Context, method, path string, body any) error {
	request, err := c.api.NewRequest(method, path, body)
	if err != nil {
		return err
	}
	_, err = c.api.Do(ctx, request, nil)
	return err
}
