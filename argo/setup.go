package argo

import (
	"context"
	"fmt"
	"sync"
	"time"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	projectpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/project"
	sessionpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/session"
	settingspkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/settings"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/internal/oneline"
)

// A Setup is how Argo CD treats one Application: what its API server tells a
// promotion's token. A nil or zero field could not be read, Unread says why.
type Setup struct {
	Version string // such as v2.14.21+abcdef0

	App       *v1alpha1.Application
	Project   *v1alpha1.AppProject // with what global projects add to it
	Windows   *applicationpkg.ApplicationSyncWindowsResponse
	Overrides map[string]*v1alpha1.ResourceOverride // by group/Kind, from argocd-cm

	// BuildOptions are kustomize.buildOptions of argocd-cm; read together with
	// Overrides.
	BuildOptions string

	// Owners are the other Applications that the token sees, that come from the
	// same repository and that deploy the same Service.
	Owners []App
	// Others are the other Applications that the token sees that deploy the target's
	// source, to whichever cluster and namespace.
	Others []App

	// Can says what the token may do.
	Can map[Right]bool
	// Anonymous means that Argo CD takes the token for nobody and answers
	// because everybody may read.
	Anonymous bool
	Expires   time.Time // of the token; zero: never, or not known

	Unread map[Section]error
}

// A Section is a part of a Setup that may be unreadable, by the name of its field.
type Section string

// The parts of a Setup that are read one by one.
const (
	SectionVersion   Section = "Version"
	SectionProject   Section = "Project"
	SectionWindows   Section = "Windows"
	SectionOverrides Section = "Overrides"
	SectionOwners    Section = "Owners"
	SectionOthers    Section = "Others"
	SectionRights    Section = "Can"
	SectionAnonymous Section = "Anonymous"
)

// Setup reads how Argo CD treats the target's Application. What
// the token may not see is left out and named in Unread; the error is about
// the Application itself, which is read unless the caller knows it already.
// All questions are asked at the same time, also for further rights.
func (c *Client) Setup(ctx context.Context, target Target, known *v1alpha1.Application, further ...Right) (Setup, error) {
	setup := Setup{App: known, Expires: c.expires, Unread: map[Section]error{}}
	if known == nil {
		var err error
		if setup.App, err = c.application(ctx, target.App, noRefresh); err != nil {
			return setup, err
		}
	}
	setup.read(ctx, c, map[Section]reader{
		SectionVersion: readVersion, SectionProject: readProject, SectionWindows: readWindows, SectionOverrides: readOverrides, SectionAnonymous: readUser,
		SectionRights: rightsReader(append(further, MaySync, MayUpdate, MayDelete, MayUpdateProject)...),
		SectionOwners: ownersReader(target.Service), SectionOthers: othersReader(target.Source),
	})
	return setup, nil
}

// Essentials is the part of Setup that can stop a promotion of an Application
// that was read already. It takes six requests, of which one is for all
// Applications that the token sees, and one for each further right.
func (c *Client) Essentials(ctx context.Context, target Target, known *v1alpha1.Application, further ...Right) Setup {
	setup := Setup{App: known, Expires: c.expires, Unread: map[Section]error{}}
	setup.read(ctx, c, map[Section]reader{
		SectionProject: readProject, SectionWindows: readWindows, SectionOverrides: readOverrides,
		SectionRights: rightsReader(append(further, MaySync)...), SectionOthers: othersReader(target.Source),
	})
	return setup
}

// A reader asks Argo CD for one part.
type reader func(context.Context, *Client, *Setup) error

// read asks for the parts at the same time.
func (s *Setup) read(ctx context.Context, c *Client, parts map[Section]reader) {
	var group sync.WaitGroup
	var mu sync.Mutex
	for part, read := range parts {
		group.Go(func() {
			if err := read(ctx, c, s); err != nil {
				mu.Lock()
				defer mu.Unlock()
				s.Unread[part] = err
			}
		})
	}
	group.Wait()
}

func readVersion(ctx context.Context, c *Client, s *Setup) (err error) {
	s.Version, err = c.Version(ctx)
	return err
}

// readProject reads the project and the global ones that it inherits from. The
// API has both in one answer, GetDetailedProject, which also has the project's
// repositories: up to Argo CD 2.14.15 with their passwords (CVE-2025-55190,
// https://github.com/argoproj/argo-cd/security/advisories/GHSA-786q-9hcg-v9ff).
func readProject(ctx context.Context, c *Client, s *Setup) error {
	projects, query := projectpkg.NewProjectServiceClient(c.conn), &projectpkg.ProjectQuery{Name: s.App.Spec.GetProject()}
	project, err := projects.Get(ctx, query)
	if err != nil {
		return fmt.Errorf("reading project %s: %w", query.Name, explain(err))
	}
	if project.Name != query.Name {
		return fmt.Errorf("reading project %s: Argo CD answered with %q instead", query.Name, oneline.Brief(project.Name))
	}
	global, err := projects.GetGlobalProjects(ctx, query)
	if err != nil {
		return fmt.Errorf("reading the global projects of %s: %w", query.Name, explain(err))
	}
	for _, g := range global.Items {
		inherit(&project.Spec, g.Spec)
	}
	s.Project = project
	return nil
}

// inherit adds a global project's settings, as Argo CD does
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/argo/argo.go#L1090-L1107).
func inherit(own *v1alpha1.AppProjectSpec, global v1alpha1.AppProjectSpec) {
	own.ClusterResourceWhitelist = append(own.ClusterResourceWhitelist, global.ClusterResourceWhitelist...)
	own.ClusterResourceBlacklist = append(own.ClusterResourceBlacklist, global.ClusterResourceBlacklist...)
	own.NamespaceResourceWhitelist = append(own.NamespaceResourceWhitelist, global.NamespaceResourceWhitelist...)
	own.NamespaceResourceBlacklist = append(own.NamespaceResourceBlacklist, global.NamespaceResourceBlacklist...)
	own.SyncWindows = append(own.SyncWindows, global.SyncWindows...)
	own.SourceRepos = append(own.SourceRepos, global.SourceRepos...)
	own.Destinations = append(own.Destinations, global.Destinations...)
}

func readWindows(ctx context.Context, c *Client, s *Setup) (err error) {
	s.Windows, err = c.windows(ctx, s.App)
	return err
}

// readOverrides reads the resource customizations of argocd-cm. Argo CD's own,
// which are built in, are not among them. The options of kustomize come along.
func readOverrides(ctx context.Context, c *Client, s *Setup) error {
	settings, err := settingspkg.NewSettingsServiceClient(c.conn).Get(ctx, &settingspkg.SettingsQuery{})
	if err != nil {
		return fmt.Errorf("reading the settings of Argo CD: %w", explain(err))
	}
	// Since 3.3 Argo CD leaves them out without a word for a token it does not take.
	if settings.ControllerNamespace == "" {
		return fmt.Errorf("reading the settings of Argo CD: %w: the token is not taken", ErrAuth)
	}
	if settings.KustomizeOptions != nil {
		s.BuildOptions = settings.KustomizeOptions.BuildOptions
	}
	s.Overrides = settings.ResourceOverrides
	if s.Overrides == nil {
		s.Overrides = map[string]*v1alpha1.ResourceOverride{}
	}
	return nil
}

func readUser(ctx context.Context, c *Client, s *Setup) error {
	user, err := sessionpkg.NewSessionServiceClient(c.conn).GetUserInfo(ctx, &sessionpkg.GetUserInfoRequest{})
	if err != nil {
		return fmt.Errorf("asking Argo CD whose token it is: %w", explain(err))
	}
	s.Anonymous = !user.LoggedIn
	return nil
}
