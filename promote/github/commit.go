package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// NewCommit is a commit that GitHub is to make and sign.
type NewCommit struct {
	Branch        string
	Head          string // commit that the branch must be at
	Subject, Body string
	Files         map[string][]byte // path to content; nil content deletes the file
}

// The answers to a commit that is certainly not made.
var (
	ErrStale         = errors.New("the branch is at another commit")
	ErrCommitRefused = errors.New("refused by GitHub")
)

// CreateCommit makes a commit on a branch, if that is at its head. An error that
// is neither ErrStale nor ErrCommitRefused tells nothing of the branch
// (https://docs.github.com/graphql/reference/mutations#createcommitonbranch).
func (c *Client) CreateCommit(ctx context.Context, n NewCommit) error {
	additions, deletions := []map[string]any{}, []map[string]any{}
	for path, content := range n.Files {
		if content == nil {
			deletions = append(deletions, map[string]any{"path": path})
			continue
		}
		additions = append(additions, map[string]any{"path": path, "contents": content}) // in base64, as JSON has bytes
	}
	input := map[string]any{
		"branch":          map[string]any{"repositoryNameWithOwner": c.owner + "/" + c.name, "branchName": n.Branch},
		"message":         map[string]any{"headline": n.Subject, "body": n.Body},
		"expectedHeadOid": n.Head,
		"fileChanges":     map[string]any{"additions": additions, "deletions": deletions},
	}
	err := mutate(ctx, c, "createCommitOnBranch", "CreateCommitOnBranchInput", input)
	doing := fmt.Sprintf("committing to branch %s of %s/%s", n.Branch, c.owner, c.name)
	switch words := said(err); {
	case err == nil:
		return nil
	case words == "" && (StatusOf(err) == http.StatusNotFound || StatusOf(err) == http.StatusUnprocessableEntity):
		return fmt.Errorf("%s: %w: %w", doing, ErrCommitRefused, c.Explain(err, "contents: write"))
	case words == "":
		return fmt.Errorf("%s: %w", doing, c.Explain(err, "contents: write"))
	case strings.Contains(words, "Expected branch to point to"), strings.Contains(words, "expectedHeadOid"):
		return fmt.Errorf("%s: %w", doing, ErrStale)
	default:
		return fmt.Errorf("%s: %w: %s", doing, ErrCommitRefused, words)
	}
}
