package remote

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/go-git/go-git/v5/plumbing"
)

// Namesake tells whether Argo CD may take a reference for a branch, by any targetRevision that follows it.
func Namesake(reference string, branch plumbing.ReferenceName) bool {
	return slices.ContainsFunc([]string{branch.Short(), branch.String(), ""}, func(name string) bool { return MayBe(reference, name) })
}

// MayBe tells whether Argo CD may take a reference for an Application's targetRevision; empty is HEAD.
// It takes any reference of that short name, in an order that is not known, and tags of versions first
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/git/client.go).
func MayBe(reference, targetRevision string) bool {
	if targetRevision == "" {
		targetRevision = "HEAD"
	}
	if tag, is := strings.CutPrefix(reference, "refs/tags/"); is && satisfies(tag, targetRevision) {
		return true
	}
	return strings.HasSuffix(reference, "/"+targetRevision) && plumbing.ReferenceName(reference).Short() == targetRevision
}

// satisfies tells whether a tag is of a version that a constraint asks for, such as 1.x.
func satisfies(tag, constraint string) bool {
	if _, err := semver.NewVersion(constraint); err == nil {
		return false
	}
	asked, err := semver.NewConstraint(constraint)
	if err != nil {
		return false
	}
	version, err := semver.NewVersion(tag)
	return err == nil && asked.Check(version)
}
