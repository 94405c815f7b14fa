package argo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// history is an Application without auto-sync that is out of sync, and was synced to these
// revisions, the oldest first.
func history(revisions ...string) *v1alpha1.Application {
	app := &v1alpha1.Application{}
	app.Spec.Source = &v1alpha1.ApplicationSource{RepoURL: "https://git.example.test/infra", Path: "web"}
	app.Status.Sync.Status = v1alpha1.SyncStatusCodeOutOfSync
	for _, r := range revisions {
		app.Status.History = append(app.Status.History, v1alpha1.RevisionHistory{Revision: r, Source: *app.Spec.Source})
	}
	return app
}

// among is all traffic for one revision, or halves for two.
func among(revisions ...string) (all []servingv1.TrafficTarget) {
	for _, r := range revisions {
		all = append(all, servingv1.TrafficTarget{RevisionName: r, Percent: new(int64(100 / len(revisions)))})
	}
	return all
}

// having is a live Service for which somebody has asked for asked, and users have has.
func having(asked, has []servingv1.TrafficTarget) *servingv1.Service {
	live := &servingv1.Service{}
	live.Spec.Traffic, live.Status.Traffic = asked, has
	return live
}

// TestMoved: the promotion from old to new has committed own1 (halves) and own2 (all to new);
// base, older and latest are of nobody's promotion.
func TestMoved(t *testing.T) {
	t.Parallel()
	says := map[string][]servingv1.TrafficTarget{
		"base": among("old"), "own1": among("old", "new"), "own1 and docs": among("old", "new"), "own2": among("new"), "older": among("oldest"), "latest": among(""),
	}
	intent := Intent{
		Target: Target{App: App{Name: "web"}, Service: "web", Source: Source{RepoURL: "https://git.example.test/infra", Path: "web"}},
		Commit: "own2", Traffic: among("new"), Over: []string{"old", "new"},
		Own: func(_ context.Context, r string) (bool, error) {
			return slices.Contains([]string{"own1", "own1 and docs", "own2"}, r), nil
		},
		Gives: func(_ context.Context, r string) ([]servingv1.TrafficTarget, error) {
			if r == "unread" {
				return nil, errors.New("no answer")
			}
			if says[r] == nil {
				return nil, ErrNotFound
			}
			return says[r], nil
		},
	}
	unnamed := intent
	unnamed.Commit, unnamed.Traffic, unnamed.Over = "latest2", among(""), nil
	unnamed.Brings = func(_ context.Context, from, to string) (Brought, error) {
		if to == "gone" {
			return Brought{}, ErrNotFound
		}
		return Brought{Service: from == "latest2" && to == "latest"}, nil
	}
	unasked, unnamedRestore := unnamed, unnamed
	unasked.Own, unnamedRestore.Restores = nil, true
	restores := intent
	restores.Restores, restores.Traffic = true, among("old")
	old, half, all := among("old"), among("old", "new"), among("new")
	for name, test := range map[string]struct {
		in   Intent
		app  *v1alpha1.Application
		live *servingv1.Service
		want string
	}{
		"the step before is deployed":              {intent, history("base", "own1"), having(half, half), ""},
		"rolled back to the base":                  {intent, history("base", "own1", "base"), having(old, old), "somebody has rolled application web back to base in Argo CD"},
		"and that is older than the history":       {intent, history("own1", "base"), having(old, old), "somebody has rolled application web back to base in Argo CD"},
		"and synced forward again":                 {intent, history("base", "own1", "base", "own1"), having(half, half), ""},
		"another object was rolled back":           {intent, history("own1", "own1 and docs", "own1"), having(half, half), ""},
		"rolled back to what was before the base":  {intent, history("older", "base", "older"), having(among("oldest"), among("oldest")), "somebody has given the traffic of Service web to oldest"},
		"traffic by hand to another one":           {intent, history("base", "own1"), having(among("oldest"), among("oldest")), "somebody has given the traffic of Service web to oldest"},
		"by hand, and Knative has not come to it":  {intent, history("base", "own1"), having(among("oldest"), nil), "somebody has given the traffic of Service web to oldest"},
		"by hand back to the old one":              {intent, history("base", "own1"), having(old, old), "somebody has moved the traffic of Service web past Git: it is 100 % to old, and commit own1, which Argo CD deployed last, says otherwise"},
		"asked for what Knative cannot route":      {intent, history("base", "own1"), having(among("oldest"), half), ""},
		"Knative does not come to what Git says":   {intent, history("base", "own1"), having(half, old), ""},
		"it is as the intent wants already":        {intent, history("base", "own1"), having(all, all), ""},
		"the latest revision had it":               {intent, history("latest"), having(old, old), ""},
		"what was deployed is gone from Git":       {intent, history("gone"), having(old, old), ""},
		"Git does not answer":                      {intent, history("unread"), having(old, old), "error: asking what Argo CD has deployed: no answer"},
		"nothing was deployed":                     {intent, history(), having(old, old), ""},
		"there is no Service":                      {intent, history("base"), nil, ""},
		"what restores goes over a rollback":       {restores, history("base", "own1", "base"), having(old, old), ""},
		"what restores, and others were chosen":    {restores, history("base", "own1"), having(among("oldest"), among("oldest")), "somebody has given the traffic of Service web to oldest"},
		"rolled back where Git names none":         {unnamed, history("latest", "latest2", "latest"), having(among(""), old), "somebody has rolled application web back to latest in Argo CD"},
		"and other commits were deployed between":  {unnamed, history("latest", "latest2", "docs", "latest"), having(among(""), old), "somebody has rolled application web back to latest in Argo CD"},
		"and nobody asks":                          {unasked, history("latest", "latest2", "latest"), having(among(""), old), ""},
		"and what restores is synced all the same": {unnamedRestore, history("latest", "latest2", "latest"), having(among(""), old), ""},
		"what Git says is not synced yet":          {unnamed, history("docs", "latest"), having(among(""), old), ""},
		"rolled back to what is gone from Git":     {unnamed, history("gone", "latest2", "gone"), having(among(""), old), ""},
		"Argo CD syncs by itself":                  {intent, automatic(history("base", "own1", "base")), having(old, old), ""},
		"by itself, and heals nothing":             {intent, automatic(history("base", "own1")), having(old, old), "somebody has moved the traffic of Service web past Git: it is 100 % to old, and commit own1, which Argo CD deployed last, says otherwise"},
		"and Git has gone on since":                {intent, automatic(history("base", "own1")), having(half, half), ""},
		"by itself, and heals":                     {intent, healing(history("base", "own1")), having(old, old), ""},
		"a sync is running":                        {intent, running(history("base", "own1", "base")), having(old, old), ""},
		"it is in sync":                            {intent, synced(history("base", "own1", "base")), having(old, old), ""},
	} {
		move, err := Moved(t.Context(), test.in, test.app, test.live)
		got := move.Why(test.in.App)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestWhyOfHostileNames: what stands in Git as an object's name is one line of a log.
func TestWhyOfHostileNames(t *testing.T) {
	t.Parallel()
	why := Move{Beside: []string{"ConfigMap/a\n::error::b", "Secret/c"}}.Why(App{Name: "web"})
	if strings.ContainsAny(why, "\n\r") || !strings.Contains(why, "and Secret/c back") {
		t.Errorf("%q", why)
	}
}

func automatic(app *v1alpha1.Application) *v1alpha1.Application {
	app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.SyncPolicyAutomated{}}
	return app
}

func healing(app *v1alpha1.Application) *v1alpha1.Application {
	automatic(app).Spec.SyncPolicy.Automated.SelfHeal = true
	return app
}

func running(app *v1alpha1.Application) *v1alpha1.Application {
	app.Status.OperationState = &v1alpha1.OperationState{Phase: common.OperationRunning}
	return app
}

func synced(app *v1alpha1.Application) *v1alpha1.Application {
	app.Status.Sync.Status = v1alpha1.SyncStatusCodeSynced
	return app
}
