package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/review"
)

// MergePull has a pull request merged with this message, unless its head has changed
// (https://docs.gitea.com/api/#tag/repository/operation/repoMergePullRequest). What the
// branch's rules do not allow yet is [review.ErrNotMergeable], and [review.ErrOutdated] what they
// allow on the branch's tip alone: what is to be merged when
// checks succeed is merged with what somebody has pushed meanwhile.
func (c Client) MergePull(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
	how, err := mergeOnce(ctx, c, p, title, body)
	if err == nil || errors.Is(err, review.ErrNotMergeable) || errors.Is(err, review.ErrOutdated) {
		return how, err
	}
	return "", fmt.Errorf("merging pull request %d of %s: %w", p.Number, c.Name(), c.Explain(err, github.MayPropose))
}

func mergeOnce(ctx context.Context, c Client, p review.PullRequest, title, body string) (review.Merging, error) {
	style, err := styleOf(ctx, c)
	if err != nil {
		return "", err
	}
	seen, _, err := c.Mergeable(ctx, p.Number) // it takes the head that it is to merge, and no base
	if err != nil {
		return "", err
	}
	if seen.Base != p.Base {
		return "", p.OtherBase(seen.Base)
	}
	_, err = c.Send(ctx, http.MethodPost, c.Path("pulls/%d/merge", p.Number), map[string]any{
		"Do": style, "MergeTitleField": title, "MergeMessageField": body, "head_commit_id": p.Head,
	})
	if err == nil {
		return review.Done, nil
	}
	if style == forwardOnly && github.StatusOf(err) != http.StatusMethodNotAllowed && isBehind(ctx, c, p.Number) {
		return "", fmt.Errorf("%w: the repository merges by fast-forward alone", review.ErrOutdated)
	}
	return refusedBy(c, err)
}

// forwardOnly is the way to merge that no pull request has which the branch has moved away from: Gitea answers 500 then.
const forwardOnly = "fast-forward-only"

// isBehind tells whether a pull request's branch does not stand on its base's tip.
func isBehind(ctx context.Context, c Client, number int) bool {
	var pull struct {
		MergeBase string `json:"merge_base"`
		Base      struct{ SHA string }
	}
	err := c.Read(ctx, c.Path("pulls/%d", number), &pull)
	return err == nil && pull.MergeBase != pull.Base.SHA
}

// styleOf is how the repository merges. Its settings have other names than GitHub's.
func styleOf(ctx context.Context, c Client) (string, error) {
	var allows struct {
		Squash      bool `json:"allow_squash_merge"`
		Merge       bool `json:"allow_merge_commits"`
		Rebase      bool `json:"allow_rebase"`
		RebaseMerge bool `json:"allow_rebase_explicit"`
	}
	if err := c.Read(ctx, strings.TrimSuffix(c.Path(""), "/"), &allows); err != nil {
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
	return forwardOnly, nil
}

// refusedBy is what becomes of a pull request that the forge does not merge.
func refusedBy(c Client, err error) (review.Merging, error) {
	words := github.Refusal(c.Client, err)
	lower := strings.ToLower(words)
	switch code := github.StatusOf(err); {
	case code == http.StatusMethodNotAllowed && strings.Contains(lower, "try again"), code == http.StatusConflict:
		return review.Asked, nil
	case code == http.StatusMethodNotAllowed && strings.Contains(lower, "behind the base branch"):
		return "", fmt.Errorf("%w: %s", review.ErrOutdated, words)
	case code == http.StatusMethodNotAllowed:
		return "", fmt.Errorf("%w: %s", review.ErrNotMergeable, words)
	}
	return "", err
}
