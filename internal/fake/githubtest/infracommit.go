package githubtest

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// createCommit makes a commit on a branch that is at the expected one, as
// createCommitOnBranch does. GitHub is the committer.
func (i *Infra) createCommit(w http.ResponseWriter, in apiInput) {
	branch := "refs/heads/" + in.Branch.BranchName
	head := i.tip(in.Branch.BranchName)
	switch {
	case head == "":
		saysError(w, "The provided branch does not exist")
		return
	case head != in.ExpectedHeadOid:
		saysError(w, fmt.Sprintf("Expected branch to point to \"%s\" but it did not. Pull and try again.", in.ExpectedHeadOid))
		return
	case i.review.Bypass == "never":
		saysError(w, "Repository rule violations found: Changes must be made through a pull request.")
		return
	}
	message := in.Message.Headline + "\n\n" + in.Message.Body + "\n"
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit %s\ncommitter GitHub <noreply@github.com> 1800000000 +0000\ndata %d\n%s\nfrom %s\n", branch, len(message), message, head)
	for _, f := range in.FileChanges.Additions {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", f.Path, len(f.Contents), f.Contents)
	}
	for _, f := range in.FileChanges.Deletions {
		fmt.Fprintf(&stream, "D %s\n", f.Path)
	}
	if _, err := gittest.Git(i.Folder, &stream, "fast-import", "--quiet"); err != nil {
		Refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	if i.Merging != nil {
		i.Merging(i.tip(in.Branch.BranchName))
	}
	answer(w, http.StatusOK, map[string]any{"data": map[string]any{}})
}
