package argotest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apiclient/project"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// projects are the AppProjects by name.
type projects struct {
	mu     sync.Mutex
	byName map[string]*v1alpha1.AppProject
}

// newProjects has the configured projects, and for every other one that an Application names one
// that permits everything, as Argo CD's project default does.
func newProjects(config Config) *projects {
	p := &projects{byName: map[string]*v1alpha1.AppProject{}}
	for _, app := range config.Apps {
		p.byName[app.Project] = &v1alpha1.AppProject{
			ObjectMeta: metav1.ObjectMeta{Name: app.Project, Namespace: "argocd"},
			Spec: v1alpha1.AppProjectSpec{
				SourceRepos:              []string{"*"},
				Destinations:             []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}},
				ClusterResourceWhitelist: []metav1.GroupKind{{Group: "*", Kind: "*"}},
			},
		}
	}
	for i := range config.Projects {
		p.byName[config.Projects[i].Name] = config.Projects[i].DeepCopy()
	}
	return p
}

func (p *projects) get(name string) *v1alpha1.AppProject {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byName[name].DeepCopy()
}

// EditProject changes a project as a human with kubectl does, and reports whether it is there. Of
// its settings only the sync windows have an effect.
func (s *Server) EditProject(name string, change func(*v1alpha1.AppProject)) bool {
	s.projects.mu.Lock()
	defer s.projects.mu.Unlock()
	found := s.projects.byName[name]
	if found != nil {
		change(found)
	}
	return found != nil
}

// windows are the sync windows that are assigned to an Application.
func (p *projects) windows(app *v1alpha1.Application) *v1alpha1.SyncWindows {
	found := p.get(app.Spec.GetProject())
	if found == nil {
		return nil
	}
	return found.Spec.SyncWindows.Matches(app)
}

// closed tells whether a sync window keeps the Application from being synced now, by Argo CD itself
// or by hand. Windows go by the wall clock, whatever the server's speed.
func (p *projects) closed(app *v1alpha1.Application, byHand bool) bool {
	open, err := p.windows(app).CanSync(byHand)
	return err != nil || !open
}

// GetApplicationSyncWindows tells the windows and whether a sync by hand may run. As in the real
// server the windows' time zone and what they select are left out.
func (a *applications) GetApplicationSyncWindows(_ context.Context, query *application.ApplicationSyncWindowsQuery) (*application.ApplicationSyncWindowsResponse, error) {
	app, err := a.find(query.GetProject(), query.GetAppNamespace(), query.GetName())
	if err != nil {
		return nil, err
	}
	windows := a.server.projects.windows(app.get())
	open, err := windows.CanSync(true)
	if err != nil {
		return nil, fmt.Errorf("invalid sync windows: %w", err)
	}
	active, err := windows.Active()
	if err != nil {
		return nil, fmt.Errorf("invalid sync windows: %w", err)
	}
	return &application.ApplicationSyncWindowsResponse{ActiveWindows: told(active), AssignedWindows: told(windows), CanSync: &open}, nil
}

func told(windows *v1alpha1.SyncWindows) []*application.ApplicationSyncWindow {
	if windows == nil {
		return nil
	}
	var all []*application.ApplicationSyncWindow
	for _, w := range *windows {
		all = append(all, &application.ApplicationSyncWindow{Kind: &w.Kind, Schedule: &w.Schedule, Duration: &w.Duration, ManualSync: &w.ManualSync})
	}
	return all
}

// projectService is Argo CD's ProjectService, as far as it reads one project.
type projectService struct {
	project.UnimplementedProjectServiceServer
	projects *projects
	rights   rights
}

// Get returns a project.
func (s *projectService) Get(_ context.Context, query *project.ProjectQuery) (*v1alpha1.AppProject, error) {
	if err := s.rights.check("projects", "get", query.Name); err != nil {
		return nil, err
	}
	found := s.projects.get(query.Name)
	if found == nil {
		return nil, status.Errorf(codes.NotFound, "appprojects.argoproj.io %q not found", query.Name)
	}
	return found, nil
}

// GetGlobalProjects returns the projects that one inherits from: none is configured.
func (s *projectService) GetGlobalProjects(ctx context.Context, query *project.ProjectQuery) (*project.GlobalProjectsResponse, error) {
	if _, err := s.Get(ctx, query); err != nil {
		return nil, err
	}
	return &project.GlobalProjectsResponse{}, nil
}

// rights are what the token may not do, as resource/action.
type rights []string

func (r rights) check(resource, action, object string) error {
	for _, denied := range r {
		if denied == resource+"/"+action {
			return status.Errorf(codes.PermissionDenied, "permission denied: %s, %s, %s, sub: %s, iat: %s",
				resource, action, object, user, time.Unix(0, 0).UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// user is the account that the token belongs to.
const user = "ci"

// loggedIn tells whether the call's token is the right one, for the services that answer anyway.
func (g guard) loggedIn(ctx context.Context) bool {
	return g.token == "" || bearer(ctx) == g.token
}

// forEverybody are the calls that the real server answers without looking at the token's validity.
func forEverybody(method string) bool {
	return strings.HasPrefix(method, "/version.") ||
		method == "/cluster.SettingsService/Get" || method == "/session.SessionService/GetUserInfo"
}
