// Package argocdopts takes ARGOCD_OPTS, options for the argocd command, out of
// the environment of a program that imports it.
//
// Argo CD's library reads the variable while its packages are initialized, and
// ends the program where a quote in it is open
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/config/env.go#L15-L20).
// Nothing in main comes before that. Packages that are ready are initialized by
// their import paths (https://go.dev/ref/spec#Program_initialization): this one
// needs os alone, and comes before github.com/argoproj.
package argocdopts

import "os"

var _ = os.Unsetenv("ARGOCD_OPTS")
