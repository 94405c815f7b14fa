package argo

import applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"

// A Target is a Knative Service and where Argo CD takes it from.
type Target struct {
	Service string // its name as rendered
	App     App    // the Application that syncs it
	Source  Source // repository, branch and path as Argo CD knows them
}

// An App is the name of an Argo CD Application.
type App struct {
	Name      string
	Namespace string // empty: Argo CD's own namespace
	Project   string // empty: any, but then Argo CD does not tell "no such" from "not allowed"
}

// String is the Application as the CLI of Argo CD names it.
func (a App) String() string {
	if a.Namespace == "" {
		return a.Name
	}
	return a.Namespace + "/" + a.Name
}

func (a App) query() *applicationpkg.ApplicationQuery {
	query := &applicationpkg.ApplicationQuery{Name: &a.Name, AppNamespace: given(a.Namespace)}
	if a.Project != "" {
		query.Project = []string{a.Project}
	}
	return query
}

// given is a field of a request that is left out where there is nothing to say.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
