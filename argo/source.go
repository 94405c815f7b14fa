package argo

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/repourl"
)

// A Source is the place in Git that an Application deploys.
type Source struct {
	RepoURL string // in any of Git's spellings
	Branch  string
	Path    string // of the overlay, below the repository's root
}

// SourceIndex finds the one source of an Application that deploys want. A
// [SourceError] says why there is none.
func SourceIndex(app *v1alpha1.Application, want Source) (int, error) {
	if app.Spec.SourceHydrator != nil {
		return 0, mismatch("application %s uses a source hydrator, which is not supported: its revisions are not the repository's commits", app.Name)
	}
	sources := app.Spec.GetSources()
	var found []int
	for i, s := range sources {
		// A source without a path deploys nothing: others take values from it.
		if s.Chart == "" && s.Path != "" && repourl.Same(s.RepoURL, want.RepoURL) && cleanPath(s.Path) == cleanPath(want.Path) {
			found = append(found, i)
		}
	}
	if len(found) > 1 {
		found = onBranch(sources, found, want.Branch)
	}
	switch {
	case len(found) == 0:
		return 0, mismatch("application %s does not deploy %s of %s, it deploys %s: set application, repository and path to what belongs together", app.Name, cleanPath(want.Path), shown(want.RepoURL), describe(sources))
	case len(found) > 1:
		return 0, mismatch("application %s deploys %s of %s more than once: expected one source", app.Name, cleanPath(want.Path), shown(want.RepoURL))
	case !follows(sources[found[0]].TargetRevision, want.Branch):
		return 0, &SourceError{OtherBranch: true, Reason: fmt.Sprintf("application %s follows %q and not the branch %s, where the commits go: it would never see them",
			app.Name, oneline.Brief(sources[found[0]].TargetRevision), want.Branch)}
	}
	return found[0], nil
}

func mismatch(format string, args ...any) error {
	return &SourceError{Reason: fmt.Sprintf(format, args...)}
}

func onBranch(sources v1alpha1.ApplicationSources, candidates []int, branch string) []int {
	var found []int
	for _, i := range candidates {
		if follows(sources[i].TargetRevision, branch) {
			found = append(found, i)
		}
	}
	return found
}

// follows tells whether a targetRevision can move with the branch. HEAD, also spelt as
// nothing, is the remote's default branch, whose name an Application does not tell.
func follows(target, branch string) bool {
	target = strings.TrimPrefix(target, "refs/heads/")
	return branch == "" || target == "" || target == "HEAD" || target == branch
}

func describe(sources v1alpha1.ApplicationSources) string {
	var parts []string
	for _, s := range sources {
		what := cleanPath(s.Path)
		if s.Chart != "" {
			what = "chart " + s.Chart
		}
		parts = append(parts, what+" of "+shown(s.RepoURL))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return oneline.Brief(strings.Join(parts, ", "))
}

// cleanPath is a folder as a person would write it; the root is a dot.
func cleanPath(p string) string { return cmp.Or(strings.TrimPrefix(path.Clean("/"+p), "/"), ".") }

// shown is a repository's address as an error may show it.
func shown(address string) string { return oneline.Brief(repourl.Shown(address)) }
