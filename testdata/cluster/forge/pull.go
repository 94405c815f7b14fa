package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A Pull is a pull request.
type Pull struct {
	Number int    `json:"number"`
	State  string `json:"state"` // open or closed
	Merged bool   `json:"merged"`
	Merge  string `json:"merge_commit_sha"`
	Head   struct {
		SHA string `json:"sha"`
		Ref string `json:"ref"` // its branch
	} `json:"head"`
	Base struct {
		SHA string `json:"sha"`
	} `json:"base"`
}

// PullRequest asks for a branch to be merged into Branch.
func (r *Repository) PullRequest(ctx context.Context, as, branch, title string) (Pull, error) {
	var made Pull
	err := r.forge.call(ctx, as, http.MethodPost, r.path("/pulls"), map[string]string{
		"head": branch, "base": Branch, "title": title,
	}, &made)
	return made, err
}

// Pulls are the open pull requests.
func (r *Repository) Pulls(ctx context.Context) ([]Pull, error) {
	var open []Pull
	err := r.forge.call(ctx, Admin, http.MethodGet, r.path("/pulls?state=open"), nil, &open)
	return open, err
}

// Approve says yes to a pull request.
func (r *Repository) Approve(ctx context.Context, as string, number int) error {
	return r.forge.call(ctx, as, http.MethodPost, r.path("/pulls/%d/reviews", number), map[string]string{"event": "APPROVED", "body": "Fine."}, nil)
}

// Pull reads a pull request.
func (r *Repository) Pull(ctx context.Context, number int) (Pull, error) {
	var pull Pull
	err := r.forge.call(ctx, Admin, http.MethodGet, r.path("/pulls/%d", number), nil, &pull)
	return pull, err
}

// mergeTime is how long Gitea may look for conflicts before it merges.
const mergeTime = 30 * time.Second

// Merge merges a pull request in one of the ways merge, squash and rebase.
func (r *Repository) Merge(ctx context.Context, as string, number int, way string) (Pull, error) {
	ctx, stop := context.WithTimeout(ctx, mergeTime)
	defer stop()
	for {
		err := r.forge.call(ctx, as, http.MethodPost, r.path("/pulls/%d/merge", number), map[string]string{"Do": way}, nil)
		if err == nil {
			return r.Pull(ctx, number)
		}
		// Gitea looks for conflicts in the background first, and says so.
		if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Status != http.StatusMethodNotAllowed {
			return Pull{}, err
		}
		select {
		case <-ctx.Done():
			return Pull{}, fmt.Errorf("merging pull request %d of %s: %w", number, r.FullName(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// A Comment is a comment on a pull request.
type Comment struct {
	ID      int64     `json:"id"`
	Body    string    `json:"body"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
	User    struct {
		Login string `json:"login"`
	} `json:"user"`
}

// Comment writes a comment.
func (r *Repository) Comment(ctx context.Context, as string, number int, body string) (Comment, error) {
	var made Comment
	err := r.forge.call(ctx, as, http.MethodPost, r.path("/issues/%d/comments", number), map[string]string{"body": body}, &made)
	return made, err
}

// Comments reads all comments on a pull request, the oldest first.
func (r *Repository) Comments(ctx context.Context, number int) ([]Comment, error) {
	var comments []Comment
	err := r.forge.call(ctx, Admin, http.MethodGet, r.path("/issues/%d/comments", number), nil, &comments)
	return comments, err
}

// DeleteComment deletes a comment, whoever wrote it.
func (r *Repository) DeleteComment(ctx context.Context, id int64) error {
	return r.forge.call(ctx, Admin, http.MethodDelete, r.path("/issues/comments/%d", id), nil, nil)
}

// Lock lets only who may write to the repository comment on a pull request.
func (r *Repository) Lock(ctx context.Context, number int) error {
	return r.forge.call(ctx, Admin, http.MethodPut, r.path("/issues/%d/lock", number), map[string]string{"lock_reason": "resolved"}, nil)
}
