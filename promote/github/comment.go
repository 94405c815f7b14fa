package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// maxPages bounds the search for our comment. GitHub allows 2,500 comments.
const maxPages = 50

// Upsert makes body the one comment of ours on the pull request that starts
// with marker, which body has to start with too. Comments of other people are
// never touched, whatever they start with. Of several of ours the oldest
// stays. Nothing is written where the comment is as it should be.
func (c *Client) Upsert(ctx context.Context, pullRequest int, marker, body string) error {
	if marker == "" || !strings.HasPrefix(body, marker) {
		return errors.New("commenting: the text does not start with its marker")
	}
	if err := upsertComment(ctx, c, pullRequest, marker, body); err != nil {
		return fmt.Errorf("commenting on pull request %d of %s/%s: %w", pullRequest, c.owner, c.name, c.Explain(err, mayComment))
	}
	return nil
}

func upsertComment(ctx context.Context, c *Client, pullRequest int, marker, body string) error {
	login, err := identityOf(ctx, c)
	if err != nil {
		return err
	}
	if login == "" {
		// Nobody tells who we are, so write first: the author is us.
		created, err := createComment(ctx, c, pullRequest, body)
		if err != nil {
			return err
		}
		login = remember(c, created.GetUser().GetLogin())
	}
	ours, err := oursOf(ctx, c, pullRequest, login, marker)
	if err != nil {
		return err
	}
	if len(ours) == 0 {
		_, err := createComment(ctx, c, pullRequest, body)
		return err
	}
	if err := editComment(ctx, c, pullRequest, ours[0], body); err != nil {
		return err
	}
	return removeComment(ctx, c, ours[1:])
}

// oursOf lists our comments that start with the marker, the oldest first.
func oursOf(ctx context.Context, c *Client, pullRequest int, login, marker string) ([]*github.IssueComment, error) {
	var found []*github.IssueComment
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for range maxPages {
		comments, response, err := c.api.Issues.ListComments(ctx, c.owner, c.name, pullRequest, options)
		if err != nil {
			return nil, err
		}
		for _, comment := range comments {
			if strings.EqualFold(comment.GetUser().GetLogin(), login) && strings.HasPrefix(comment.GetBody(), marker) {
				found = append(found, comment)
			}
		}
		if response.NextPage == 0 {
			break
		}
		options.Page = response.NextPage
	}
	slices.SortFunc(found, func(a, b *github.IssueComment) int { return int(a.GetID() - b.GetID()) })
	return found, nil
}

func createComment(ctx context.Context, c *Client, pullRequest int, body string) (*github.IssueComment, error) {
	comment, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.name, pullRequest, &github.IssueComment{Body: &body})
	return comment, err
}

// editComment writes body into the comment, or into a new one where it was deleted
// since it was listed.
func editComment(ctx context.Context, c *Client, pullRequest int, comment *github.IssueComment, body string) error {
	if same(comment.GetBody(), body) {
		return nil
	}
	_, _, err := c.api.Issues.EditComment(ctx, c.owner, c.name, comment.GetID(), &github.IssueComment{Body: &body})
	if gone(err) {
		_, err = createComment(ctx, c, pullRequest, body)
	}
	return err
}

// same compares texts as GitHub keeps them.
func same(a, b string) bool {
	normal := func(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
	return normal(a) == normal(b)
}

func removeComment(ctx context.Context, c *Client, comments []*github.IssueComment) error {
	for _, comment := range comments {
		_, err := c.api.Issues.DeleteComment(ctx, c.owner, c.name, comment.GetID())
		if err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

func gone(err error) bool {
	return StatusOf(err) == http.StatusNotFound || StatusOf(err) == http.StatusGone
}
