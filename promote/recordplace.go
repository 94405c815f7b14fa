package promote

import (
	"fmt"

	"github.com/acme/knative-promote/gitops/repourl"
)

// of is the record if it was written for the target's overlay. One that came with a
// copy of the folder, from another branch or another repository tells nothing of this
// one.
func (r Record) of(target Target) Record {
	if r.elsewhere(target) != "" {
		return Record{}
	}
	return r
}

// elsewhere names in words what a record is of that was not written for the target's
// overlay; empty: it was.
func (r Record) elsewhere(target Target) string {
	switch here := target.Source; {
	case r.Overlay != target.Overlay:
		return "the overlay " + r.Overlay
	case r.Repository != here.RepoURL && !repourl.Same(r.Repository, here.RepoURL):
		return fmt.Sprintf("the repository %s, and this is %s", orNone(r.Repository), orNone(repourl.Shown(here.RepoURL)))
	case r.Branch != here.Branch:
		return fmt.Sprintf("the branch %s, and this is %s", orNone(r.Branch), orNone(here.Branch))
	}
	return ""
}

func orNone(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}
