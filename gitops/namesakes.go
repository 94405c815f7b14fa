package gitops

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/acme/knative-promote/gitops/remote"
)

// Namesakes are what Argo CD may deploy in a branch's place where an Application's targetRevision
// follows the branch. What protects the branch does not protect those.
type Namesakes struct {
	References []string // of the same short name: see [remote.MayBe]
	Default    string   // the default branch, where HEAD is followed and stands for another one; empty: it does not
}

// Any tells whether there are any.
func (n Namesakes) Any() bool { return n.Default != "" || len(n.References) > 0 }

// Namesakes asks the server for those of the branch; an empty targetRevision is HEAD.
func (r *Repo) Namesakes(ctx context.Context, targetRevision string) (found Namesakes, err error) {
	advertised, err := r.remote.Advertised(ctx, r.branch)
	if err != nil {
		return found, err
	}
	mayBe := remote.MayBe(targetRevision)
	found.References = slices.DeleteFunc(slices.Sorted(maps.Keys(advertised.References)), func(reference string) bool {
		return reference == r.branch.String() || !mayBe(reference)
	})
	if cmp.Or(targetRevision, "HEAD") != "HEAD" {
		return found, nil
	}
	for _, link := range advertised.Capabilities.Get(capability.SymRef) {
		if head, is := strings.CutPrefix(link, "HEAD:refs/heads/"); is && head != r.branch.Short() {
			found.Default = head
		}
	}
	return found, nil
}
