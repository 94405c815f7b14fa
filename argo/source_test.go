package argo

import (
	"errors"
	"testing"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFollows(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]bool{
		"main": true, "refs/heads/main": true, "HEAD": true, "": true,
		"release": false, "v1.2.3": false, "refs/tags/main": false, "08c13fd09bb7162ef7b21c0896f9ac61109e3aa5": false,
	} {
		if got := follows(target, "main"); got != want {
			t.Errorf("follows(%q) = %v", target, got)
		}
	}
}

// That an Application deploys something else is the user's to correct: the error
// says so by its type, whatever is in the way.
func TestSourceIndexRefuses(t *testing.T) {
	t.Parallel()
	want := Source{RepoURL: "https://git.example.test/infra.git", Branch: "main", Path: "apps/web"}
	overlay := v1alpha1.ApplicationSource{RepoURL: want.RepoURL, Path: want.Path, TargetRevision: "main"}
	for reason, spec := range map[string]v1alpha1.ApplicationSpec{
		"application web uses a source hydrator, which is not supported: its revisions are not the repository's commits":                                                    {Source: &overlay, SourceHydrator: &v1alpha1.SourceHydrator{}},
		"application web deploys apps/web of https://git.example.test/infra.git more than once: expected one source":                                                        {Sources: v1alpha1.ApplicationSources{overlay, overlay}},
		`application web follows "v1" and not the branch main, where the commits go: it would never see them`:                                                               {Source: &v1alpha1.ApplicationSource{RepoURL: want.RepoURL, Path: want.Path, TargetRevision: "v1"}},
		"application web does not deploy apps/web of https://git.example.test/infra.git, it deploys nothing: set application, repository and path to what belongs together": {},
	} {
		_, err := SourceIndex(&v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: spec}, want)
		source := spec.Source
		otherBranch := source != nil && source.TargetRevision != want.Branch
		if mismatch, ok := errors.AsType[*SourceError](err); !ok || mismatch.Reason != reason || mismatch.OtherBranch != otherBranch {
			t.Errorf("got %T %v, want the SourceError %s, about the branch: %v", err, err, reason, otherBranch)
		}
	}
}

// TestSourceIndexOfTheRoot has the root's spellings, and a source that only
// lends its files to others.
func TestSourceIndexOfTheRoot(t *testing.T) {
	t.Parallel()
	const repository = "https://git.example.test/infra.git"
	for _, spelling := range []string{".", "./", "/", "./."} {
		sources := v1alpha1.ApplicationSources{{RepoURL: repository, Ref: "values"}, {RepoURL: repository, Path: "web"}, {RepoURL: repository, Path: spelling}}
		app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Sources: sources}}
		if at, err := SourceIndex(app, Source{RepoURL: repository, Branch: "main", Path: "."}); at != 2 || err != nil {
			t.Errorf("path %q: source %d, error %v; want 2", spelling, at, err)
		}
	}
	app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Source: &v1alpha1.ApplicationSource{RepoURL: repository, Path: "."}}}
	app.Spec.Source.RepoURL = "https://robot:s3cr3t@git.example.test/infra.git?access_token=s3cr3t"
	const want = "application  does not deploy web of https://git.example.test/infra.git, it deploys . of https://git.example.test/infra.git: set application, repository and path to what belongs together"
	if _, err := SourceIndex(app, Source{RepoURL: repository, Branch: "main", Path: "web"}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestClosedWindows(t *testing.T) {
	t.Parallel()
	window := func(kind string) *applicationpkg.ApplicationSyncWindow {
		return &applicationpkg.ApplicationSyncWindow{Kind: &kind}
	}
	type windows = []*applicationpkg.ApplicationSyncWindow
	for name, test := range map[string]struct {
		active, assigned windows
		want             bool
	}{
		"none":               {nil, nil, false},
		"deny is active":     {windows{window("deny")}, windows{window("deny")}, true},
		"deny is not active": {nil, windows{window("deny")}, false},
		"allow is active":    {windows{window("allow")}, windows{window("allow")}, false},
		"allow has passed":   {nil, windows{window("allow"), window("deny")}, true},
		"deny beats allow":   {windows{window("allow"), window("deny")}, windows{window("allow"), window("deny")}, true},
	} {
		got := Closed(&applicationpkg.ApplicationSyncWindowsResponse{ActiveWindows: test.active, AssignedWindows: test.assigned})
		if got != test.want {
			t.Errorf("%s: closed is %v", name, got)
		}
	}
}
