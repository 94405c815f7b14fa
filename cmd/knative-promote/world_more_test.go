package main

import (
	"net/http"

	"github.com/acme/knative-promote/internal/fake/argotest"
)

const stagingPath = "apps/product-import/overlays/staging"

// more are the environments before production, where the script wants some.
func (w *world) more() []argotest.App {
	var apps []argotest.App
	if w.staging && !w.elsewhere {
		apps = append(apps, w.stagingApp())
	}
	if w.qa {
		apps = append(apps, argotest.App{Name: "qa-app", Path: "apps/product-import/overlays/qa", DestinationNamespace: "qa", AutoSync: true, SelfHeal: true})
	}
	if w.twin {
		apps = append(apps, argotest.App{Name: "twin-app", Path: w.path, DestinationNamespace: "production-eu", AutoSync: true, SelfHeal: true})
	}
	return apps
}

func (w *world) stagingApp() argotest.App {
	return argotest.App{Name: "staging-app", Path: stagingPath, Branch: w.stagingBranch(), DestinationNamespace: "staging", AutoSync: true, SelfHeal: true}
}

func (w *world) stagingBranch() string {
	if w.onBranch {
		return "staging"
	}
	return "main"
}

// startOther starts the Argo CD of staging, where it has one of its own.
func (w *world) startOther() (err error) {
	if !w.elsewhere {
		return nil
	}
	config, app := w.argoConfig(), w.stagingApp()
	app.RepoURL, app.GitDir = w.servers.Repository, w.bare
	config.Token, config.Apps = otherToken, []argotest.App{app}
	config.Middleware = func(next http.Handler) http.Handler { return w.recorded("argocd of staging", next) }
	config.Ingress = func(next http.Handler) http.Handler { return w.recorded("ingress", next) }
	w.other, err = argotest.Start(config)
	return err
}
