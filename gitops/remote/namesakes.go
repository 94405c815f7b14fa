package remote

import (
	"cmp"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/go-git/go-git/v5/plumbing"
)

// MayBe tells which references Argo CD may take for an Application's targetRevision; empty is HEAD.
// It takes any reference of that short name, in an order that is not known, and tags of versions first
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/git/client.go).
func MayBe(targetRevision string) func(reference string) bool {
	name := cmp.Or(targetRevision, "HEAD")
	asked := constraint(name)
	return func(reference string) bool {
		if tag, is := strings.CutPrefix(reference, "refs/tags/"); is && asked != nil {
			version, err := semver.NewVersion(tag)
			if err == nil && asked.Check(version) {
				return true
			}
		}
		return strings.HasSuffix(reference, "/"+name) && plumbing.ReferenceName(reference).Short() == name
	}
}

// constraint is what a name asks for of versions, such as 1.x; nil: it is no constraint.
func constraint(name string) *semver.Constraints {
	if _, err := semver.NewVersion(name); err == nil {
		return nil
	}
	asked, err := semver.NewConstraint(name)
	if err != nil {
		return nil
	}
	return asked
}
