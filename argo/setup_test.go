package argo

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	accountpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/account"
	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	projectpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/project"
	settingspkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/settings"
	versionpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/version"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A setupServer answers what a server with many Applications and projects does.
type setupServer struct {
	*liveServer
	project   *v1alpha1.AppProject
	global    []*v1alpha1.AppProject
	others    []v1alpha1.Application
	namespace string // of Argo CD, told to whom it knows

	asking sync.Mutex
	asked  []string
}

func newSetupServer(t *testing.T) (*setupServer, Intent) {
	t.Helper()
	live, in := newLiveServer(t, "recorded-full-live")
	return &setupServer{liveServer: live, namespace: "argocd", project: &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}, in
}

func (s *setupServer) ask(question string) {
	s.asking.Lock()
	defer s.asking.Unlock()
	s.asked = append(s.asked, question)
}

func (s *setupServer) List(_ context.Context, q *applicationpkg.ApplicationQuery) (*v1alpha1.ApplicationList, error) {
	s.ask("list of " + q.GetRepo())
	return &v1alpha1.ApplicationList{Items: slices.Concat(s.others, []v1alpha1.Application{*s.observed.App})}, nil
}

type accounts struct {
	accountpkg.UnimplementedAccountServiceServer
	of *setupServer
}

func (a *accounts) CanI(_ context.Context, q *accountpkg.CanIRequest) (*accountpkg.CanIResponse, error) {
	a.of.ask(q.Resource + " " + q.Action + " " + q.Subresource)
	value := "no"
	if q.Action == "sync" {
		value = "yes"
	}
	return &accountpkg.CanIResponse{Value: value}, nil
}

type projects struct {
	projectpkg.UnimplementedProjectServiceServer
	of *setupServer
}

func (p *projects) Get(_ context.Context, q *projectpkg.ProjectQuery) (*v1alpha1.AppProject, error) {
	if p.of.project == nil {
		return nil, status.Errorf(codes.PermissionDenied, "permission denied: projects, get, %s, sub: reader", q.Name)
	}
	return p.of.project, nil
}

func (p *projects) GetGlobalProjects(context.Context, *projectpkg.ProjectQuery) (*projectpkg.GlobalProjectsResponse, error) {
	return &projectpkg.GlobalProjectsResponse{Items: p.of.global}, nil
}

type settings struct {
	settingspkg.UnimplementedSettingsServiceServer
	of *setupServer
}

func (c *settings) Get(context.Context, *settingspkg.SettingsQuery) (*settingspkg.Settings, error) {
	return &settingspkg.Settings{
		ControllerNamespace: c.of.namespace,
		KustomizeOptions:    &v1alpha1.KustomizeOptions{BuildOptions: "--load-restrictor LoadRestrictionsNone"},
	}, nil
}

// handler has no session service, as if it were a server that does not know it.
func (s *setupServer) handler() http.Handler {
	server := grpc.NewServer()
	applicationpkg.RegisterApplicationServiceServer(server, s)
	versionpkg.RegisterVersionServiceServer(server, s)
	accountpkg.RegisterAccountServiceServer(server, &accounts{of: s})
	projectpkg.RegisterProjectServiceServer(server, &projects{of: s})
	settingspkg.RegisterSettingsServiceServer(server, &settings{of: s})
	return grpcweb.WrapServer(server)
}

func (s *setupServer) read(t *testing.T, in Intent) Setup {
	t.Helper()
	setup, err := dial(t, s.handler(), nil).Setup(t.Context(), in.Target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

func TestSetupReadsBuildOptions(t *testing.T) {
	t.Parallel()
	s, in := newSetupServer(t)
	if got, want := s.read(t, in).BuildOptions, "--load-restrictor LoadRestrictionsNone"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSetupFindsOtherOwners(t *testing.T) {
	t.Parallel()
	s, in := newSetupServer(t)
	other := func(name string, change func(*v1alpha1.Application)) {
		app := s.observed.App.DeepCopy()
		app.Name, app.UID = name, types.UID(name)
		if change != nil {
			change(app)
		}
		s.others = append(s.others, *app)
	}
	other("twin", nil)
	other("elsewhere", func(a *v1alpha1.Application) { a.Spec.Destination.Server = "https://other.example.test" })
	other("namespace", func(a *v1alpha1.Application) { a.Status.Resources[0].Namespace = "staging" })
	other("pruning", func(a *v1alpha1.Application) { a.Status.Resources[0].RequiresPruning = true })
	other("staging", func(a *v1alpha1.Application) {
		a.Spec.Source.Path, a.Status.Resources[0].Namespace = "apps/web-b/overlays/staging", "staging"
	})
	in.Source = Source{RepoURL: s.observed.App.Spec.Source.RepoURL, Path: s.observed.App.Spec.Source.Path}
	setup := s.read(t, in)
	var others []string
	for _, app := range setup.Others {
		others = append(others, app.Name)
	}
	if want := []string{"twin", "elsewhere", "namespace", "pruning"}; !slices.Equal(others, want) {
		t.Errorf("others: got %q, want %q", others, want)
	}
	want := []App{{Name: "twin", Namespace: s.observed.App.Namespace, Project: "default"}}
	if diff := cmp.Diff(want, setup.Owners); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	if question := "list of " + s.observed.App.Spec.Source.RepoURL; !slices.Contains(s.asked, question) {
		t.Errorf("asked %q and not %q", s.asked, question)
	}
}

// TestSetupAsksInArgoCDsTerms is about the names of Applications in RBAC, which
// have their namespace unless it is Argo CD's own.
func TestSetupAsksInArgoCDsTerms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ namespace, controller, want string }{
		"in Argo CD's namespace":       {"argocd", "argocd", "default/web-b-production"},
		"in another one":               {"team-a", "argocd", "default/team-a/web-b-production"},
		"of an old server":             {"argocd", "", "default/web-b-production"},
		"Argo CD in its own place":     {"gitops", "gitops", "default/web-b-production"},
		"in another one of an old one": {"team-a", "", "default/web-b-production"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, in := newSetupServer(t)
			s.observed.App.Namespace, s.observed.App.Status.ControllerNamespace = test.namespace, test.controller
			setup := s.read(t, in)
			for _, question := range []string{"applications sync " + test.want, "applications delete " + test.want, "projects update default"} {
				if !slices.Contains(s.asked, question) {
					t.Errorf("asked %q and not %q", s.asked, question)
				}
			}
			if diff := cmp.Diff(map[Right]bool{MaySync: true, MayUpdate: false, MayDelete: false, MayUpdateProject: false}, setup.Can); diff != "" {
				t.Errorf("can (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetupMergesGlobalProjects(t *testing.T) {
	t.Parallel()
	s, in := newSetupServer(t)
	s.project.Spec = v1alpha1.AppProjectSpec{SourceRepos: []string{"own"}, SyncWindows: v1alpha1.SyncWindows{{Kind: "allow"}}}
	s.global = []*v1alpha1.AppProject{{Spec: v1alpha1.AppProjectSpec{
		SourceRepos: []string{"global"}, SyncWindows: v1alpha1.SyncWindows{{Kind: "deny", TimeZone: "Europe/Berlin"}},
		NamespaceResourceBlacklist: []metav1.GroupKind{{Group: "*", Kind: "Secret"}},
	}}}
	spec := s.read(t, in).Project.Spec
	if len(spec.SyncWindows) != 2 || spec.SyncWindows[1].TimeZone != "Europe/Berlin" || !slices.Equal(spec.SourceRepos, []string{"own", "global"}) ||
		len(spec.NamespaceResourceBlacklist) != 1 {
		t.Errorf("got %+v", spec)
	}
}

// TestSetupSaysWhatItCouldNotRead has a server that lets the token see little.
func TestSetupSaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	s, in := newSetupServer(t)
	s.project, s.namespace = nil, ""
	setup := s.read(t, in)
	if setup.App == nil || setup.Version == "" || setup.Project != nil || setup.Overrides != nil {
		t.Errorf("got %+v", setup)
	}
	for part, want := range map[Section]string{
		SectionProject:   "reading project default: not allowed by Argo CD: no such application, or the token may not do this: permission denied: projects, get, default",
		SectionOverrides: "reading the settings of Argo CD: not allowed by Argo CD: the token is not taken",
		SectionAnonymous: "asking Argo CD whose token it is: ",
	} {
		wantError(t, setup.Unread[part], want)
	}
	if len(setup.Unread) != 3 {
		t.Errorf("unread: %v", setup.Unread)
	}
}

func TestSetupNeedsTheApplication(t *testing.T) {
	t.Parallel()
	s, in := newSetupServer(t)
	s.get = func(*applicationpkg.ApplicationQuery) (*v1alpha1.Application, error) {
		return nil, status.Error(codes.PermissionDenied, "permission denied")
	}
	_, err := dial(t, s.handler(), nil).Setup(t.Context(), in.Target, nil)
	wantError(t, err, "reading application "+in.App.String()+": not allowed by Argo CD")
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	jwt := func(claims string) string {
		return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
	}
	for token, want := range map[string]time.Time{
		jwt(`{"iss":"argocd","sub":"ci:apiKey","exp":1798761600}`): time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		" " + jwt(`{"exp":1798761600.5}`) + "\n":                   time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		jwt(`{"iss":"argocd","sub":"ci:apiKey"}`):                  {},
		jwt(`{"exp":"soon"}`):                                      {},
		jwt(`{"exp":1e30}`):                                        {},
		jwt(`{"exp":-1}`):                                          {},
		jwt(`exp`):                                                 {},
		"a.%%%.c":                                                  {},
		"opaque":                                                   {},
		"":                                                         {},
	} {
		if got := expiry(token); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", token, got, want)
		}
	}
}
