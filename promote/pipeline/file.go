// Package pipeline reads knative-promote.yaml, which says at the root of the infra
// repository what its environments are, in which order images go through them,
// and what must hold before. It is pure: the file comes as bytes.
//
//	version: 1
//	path: apps/{service}/overlays/{environment}
//	defaults: {application: "{service}-{environment}", argocd-server: argocd.example.com}
//	environments:
//	  dev: {}
//	  staging: {from: dev, checks: [e2e]}
//	  production: {from: staging, soak: 1h, approval: true, steps: "10@5m,50@5m,100"}
//	services:
//	  checkout: {production: {soak: 24h}}
//
// What an environment says are values of inputs, by their names and as the inputs
// take them. Some are guards: what a run is given may be stricter, and not less.
package pipeline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Name is the file's, at the root of the infra repository.
const Name = "knative-promote.yaml"

// A File is what the file says.
type File struct {
	Environments []string // in order
	path         Setting
	defaults     Settings
	environments map[string]Settings
	services     map[string]map[string]Settings // of environments
	lines        map[string]int                 // of the environments
	guards       []Key                          // that there are
}

// A Setting is one value with its line, from 1.
type Setting struct {
	Text string // as the input of that name takes it
	Line int
}

// Settings are values by the names of their inputs. Two are none of an input:
// approval as true, false or if-known, and override as true or false.
type Settings map[string]Setting

// The keys that are not the values of inputs.
const (
	approval = "approval" // somebody must have approved of each run
	override = "override" // a run may override the guards, with a reason

	ifKnown = "if-known" // of approval: unless nobody can tell
)

// The words that stand for names in the path and in the application.
const (
	theService     = "{service}"
	theEnvironment = "{environment}"
)

// TokenVariable is the environment variable that has the Argo CD token of an
// environment: its name in upper case, with _ for all but letters and digits.
func TokenVariable(environment string) string {
	return "ARGOCD_AUTH_TOKEN_" + regexp.MustCompile("[^A-Z0-9]").ReplaceAllString(strings.ToUpper(environment), "_")
}

func expand(pattern, service, environment string) string {
	return strings.NewReplacer(theService, service, theEnvironment, environment).Replace(pattern)
}

// Rules are what a file says of one Service in one environment. The zero Rules
// are of none.
type Rules struct {
	Service     string
	Environment string
	Settings    Settings // with the path, and from as paths
	Approval    int      // line that wants somebody to have approved of a run; 0: none does
	IfKnown     bool     // a run of which nobody can tell that counts as approved
	Override    bool     // a run may override the guards, with a reason
	guards      []Key    // that there are
}

// Known tells whether the file says anything of the target.
func (r Rules) Known() bool { return r.Environment != "" }

// Sources are the overlays that images come from; none: they do not.
func (r Rules) Sources() []string { return Names(r.Settings["from"].Text) }

// PerService tells whether the path is another one for each Service.
func (f File) PerService() bool { return strings.Contains(f.path.Text, theService) }

// Rules are those of a Service in an environment of the file. Later ones win: of
// all environments, of the environment, of the Service there.
func (f File) Rules(service, environment string) Rules {
	if !slices.Contains(f.Environments, environment) {
		return Rules{}
	}
	r := Rules{Service: service, Environment: environment, Settings: Settings{}, guards: f.guards}
	for _, layer := range []Settings{f.defaults, f.environments[environment], f.services[service][environment]} {
		for name, said := range layer {
			r.Settings[name] = said
		}
	}
	r.Override = r.Settings[override].Text == "true"
	if said := r.Settings[approval]; said.Text == "true" || said.Text == ifKnown {
		r.Approval, r.IfKnown = said.Line, said.Text == ifKnown
	}
	delete(r.Settings, approval)
	delete(r.Settings, override)
	r.Settings["path"] = Setting{f.Path(service, environment), f.path.Line}
	if from, said := r.Settings["from"]; said {
		var paths []string
		for _, name := range Names(from.Text) {
			paths = append(paths, f.Path(service, name))
		}
		r.Settings["from"] = Setting{strings.Join(paths, "\n"), from.Line}
	}
	if app, said := r.Settings["application"]; said {
		r.Settings["application"] = Setting{expand(app.Text, service, environment), app.Line}
	}
	return r
}

// Path is the overlay of a Service in an environment.
func (f File) Path(service, environment string) string {
	return expand(f.path.Text, service, environment)
}

// Of are the rules of an overlay, by its path. Where the path may be that of several
// environments, with another Service in each, it is the one with the given Service. The
// error is that there is no such one.
func (f File) Of(overlay, service string) (Rules, error) {
	var found Rules
	var names []string
	for _, environment := range f.Environments {
		of := service
		if f.PerService() {
			of = serviceIn(overlay, expand(f.path.Text, theService, environment))
		}
		if f.Path(of, environment) != overlay {
			continue
		}
		names, found = append(names, environment), f.Rules(of, environment)
		if of == service {
			return found, nil
		}
	}
	if len(names) > 1 {
		return Rules{}, fmt.Errorf("the path %s does not tell which of the environments %s has the overlay %s of Service %s: expected a folder called as the Service is, or a / between them in the path",
			f.path.Text, strings.Join(names, " and "), overlay, service)
	}
	return found, nil
}

// Deploys tells whether a folder is the overlay of one of the environments.
func (f File) Deploys(folder string) bool {
	rules, err := f.Of(folder, "")
	return rules.Known() || err != nil
}

// Apart is why an overlay must not be promoted by itself: that another environment's builds on it, so that what comes to
// it comes there at once, whatever is wanted there, or the other way round. Which folders one builds on, below tells.
func (f File) Apart(overlay, service string, below func(overlay string) []string) error {
	if rules, err := f.Of(overlay, service); err == nil && rules.Known() {
		service = rules.Service
	}
	const builds = "%s builds on %s, and one of them is the overlay of %s: what is promoted below comes to both at once: " +
		"expected both to build on a folder that nothing is promoted in"
	under := below(overlay)
	for _, environment := range f.Environments {
		if other := f.Path(service, environment); other != overlay && slices.Contains(under, other) {
			return fmt.Errorf(builds, overlay, other, environment)
		}
	}
	if above := f.Above(overlay, service, below); len(above) > 0 {
		return fmt.Errorf(builds, f.Path(service, above[0]), overlay, above[0])
	}
	return nil
}

// Above are the environments whose overlay of a Service builds on another one.
func (f File) Above(overlay, service string, below func(overlay string) []string) (environments []string) {
	for _, environment := range f.Environments {
		if slices.Contains(below(f.Path(service, environment)), overlay) {
			environments = append(environments, environment)
		}
	}
	return environments
}

// serviceIn is what stands in a path where a pattern has the word for the Service;
// empty: nothing can. How long it is follows from the two lengths.
func serviceIn(overlay, pattern string) string {
	times, start := strings.Count(pattern, theService), strings.Index(pattern, theService)
	long := (len(overlay) - len(pattern) + times*len(theService)) / times
	if long < 1 || start+long > len(overlay) || strings.Contains(overlay[start:start+long], "/") {
		return ""
	}
	return overlay[start : start+long]
}

// Services is where the Services of an environment are told apart: the folder that
// has an entry for each, and which Service an entry is of; empty: of none.
func (f File) Services(environment string) (folder string, of func(entry string) string) {
	pattern := expand(f.path.Text, theService, environment)
	before, after, _ := strings.Cut(pattern, theService)
	folder, before = path.Split(before)
	after, _, _ = strings.Cut(after, "/")
	return folder, func(entry string) string { return serviceIn(entry, before+theService+after) }
}

// Line is that of an environment.
func (f File) Line(environment string) int { return f.lines[environment] }

// Exceptions are the Services that the file says something else of in an
// environment, with the lines.
func (f File) Exceptions(environment string) map[string]int {
	lines := map[string]int{}
	for service, of := range f.services {
		for _, said := range of[environment] {
			if at := lines[service]; at == 0 || said.Line < at {
				lines[service] = said.Line
			}
		}
	}
	return lines
}
