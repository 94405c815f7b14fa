package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// apiInput is what mutations are given.
type apiInput struct {
	ID, PullRequestID, MergeMethod, ExpectedHeadOid, CommitHeadline, CommitBody string

	Branch      struct{ BranchName string }
	Message     struct{ Headline, Body string }
	FileChanges struct {
		Additions []struct {
			Path     string
			Contents []byte
		}
		Deletions []struct{ Path string }
	}
}

// graphQL answers what is asked of pull requests with the infra repository's
// token.
func (i *Infra) graphQL(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Query     string
		Variables struct {
			ID    string
			Input apiInput
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		Refuse(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	in := asked.Variables.Input
	if strings.Contains(asked.Query, "createCommitOnBranch(") {
		i.createCommit(w, in)
		return
	}
	var number int
	_, _ = fmt.Sscanf(asked.Variables.ID+in.ID+in.PullRequestID, "PR_%d", &number)
	if number < 1 || number > len(i.pulls) {
		saysError(w, "Could not resolve to a node with the global id")
		return
	}
	p := i.pulls[number-1]
	head := i.tip(p.Branch)
	mutation := regexp.MustCompile(`\{ (\w+)\(input`).FindStringSubmatch(asked.Query)
	switch {
	case mutation == nil:
		answer(w, http.StatusOK, map[string]any{"data": map[string]any{"node": map[string]any{"baseRefName": "main", "repository": map[string]any{
			"squashMergeAllowed": i.review.Method == "" || i.review.Method == "squash", "mergeCommitAllowed": i.review.Method == "merge",
		}}}})
	case in.ExpectedHeadOid != "" && in.ExpectedHeadOid != head:
		saysError(w, "Head branch was modified. Review and try the merge again.")
	default:
		i.mutate(w, mutation[1], p, in.CommitHeadline, in.CommitBody)
	}
}

// mutate answers as GitHub does: a merge is refused where something is missing.
func (i *Infra) mutate(w http.ResponseWriter, name string, p *InfraPull, title, body string) {
	switch {
	case name == "mergePullRequest" && i.missing(p) != "" && i.review.Bypass != "always":
		saysError(w, i.missing(p))
	case name == "mergePullRequest":
		if err := i.merge(p, title, body); err != nil {
			saysError(w, "Pull Request is not mergeable")
			return
		}
		answer(w, http.StatusOK, map[string]any{"data": map[string]any{}})
	default: // of the merge queue
		saysError(w, "Pull request is not in a merge queue, and its base branch has none")
	}
}

func saysError(w http.ResponseWriter, message string) {
	answer(w, http.StatusOK, map[string]any{"data": nil, "errors": []any{map[string]any{"message": message}}})
}
