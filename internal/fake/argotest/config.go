package argotest

import (
	"net/http"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// Config says what a Server serves and how fast its time runs.
type Config struct {
	// Token is the bearer token that the API expects; empty accepts every call.
	Token string
	// RootPath is the path that the API is served under (Argo CD's --rootpath); usually empty.
	RootPath string
	// Speed is how many times faster than the wall clock the server's time runs: its backoffs, its
	// revisions' start times and its timestamps. 0 is 1, real time.
	Speed float64
	// Lag is the time, by the server's clock, between two steps of the Knative controllers. 0 is
	// 50 ms, which is what the real ones need. A long lag makes the time visible in which Argo CD
	// reports the health of the generation before.
	Lag time.Duration
	// Compare is the time, by the server's clock, that a comparison with Git takes. 0 is 250 ms.
	Compare time.Duration
	// Poll is how often, by the server's clock, Git is looked at without a request. 0 is 3 minutes.
	Poll time.Duration
	// PullBackOff is the time, by the server's clock, after which a broken image makes its revision
	// fail with ImagePullBackOff. 0 is 20 s.
	PullBackOff time.Duration
	// ProgressDeadline is the time, by the server's clock, after which a revision that did not
	// start is given up. 0 is 10 minutes, Knative's default.
	ProgressDeadline time.Duration
	// Domain is the domain of the services' hosts. Empty is example.test.
	Domain string
	// Apps are the Applications that the server has.
	Apps []App
	// Projects are AppProjects. Of their settings only the sync windows have an effect, the rest is
	// only told. A project that is not here permits everything.
	Projects []v1alpha1.AppProject
	// Overrides are the resource customizations of argocd-cm, by group/Kind. They are only told.
	Overrides map[string]v1alpha1.ResourceOverride
	// Denied is what the token may not do, as resource/action such as applications/sync.
	Denied []string
	// Middleware wraps the API's HTTP handler where a test wants to interfere; nil does not.
	Middleware func(http.Handler) http.Handler
	// Ingress wraps the data path's handler; nil does not.
	Ingress func(http.Handler) http.Handler
}

// App is an Argo CD Application with one source.
type App struct {
	Name      string
	Namespace string // empty is argocd
	Project   string // empty is default
	RepoURL   string
	GitDir    string // the bare repository on disk behind RepoURL
	Branch    string // empty is main
	Path      string // the overlay
	// DestinationNamespace is where objects without a namespace go.
	DestinationNamespace string
	AutoSync             bool
	SelfHeal             bool
}

func (c Config) withDefaults() Config {
	fill(&c.Lag, 50*time.Millisecond)
	fill(&c.Compare, 250*time.Millisecond)
	fill(&c.Poll, 3*time.Minute)
	fill(&c.PullBackOff, 20*time.Second)
	fill(&c.ProgressDeadline, 10*time.Minute)
	fill(&c.Domain, "example.test")
	for _, around := range []*func(http.Handler) http.Handler{&c.Middleware, &c.Ingress} {
		if *around == nil {
			*around = func(h http.Handler) http.Handler { return h }
		}
	}
	apps := make([]App, len(c.Apps))
	for i, app := range c.Apps {
		fill(&app.Namespace, "argocd")
		fill(&app.Project, "default")
		fill(&app.Branch, "main")
		fill(&app.DestinationNamespace, "default")
		apps[i] = app
	}
	c.Apps = apps
	return c
}

// fill sets a value that was left out.
func fill[T comparable](value *T, byDefault T) {
	if zero := *new(T); *value == zero {
		*value = byDefault
	}
}

func (c Config) cluster(clock cluster.Clock) cluster.Config {
	return cluster.Config{
		Clock: clock, Lag: c.Lag, PullBackOff: c.PullBackOff, ProgressDeadline: c.ProgressDeadline, Domain: c.Domain,
	}
}
