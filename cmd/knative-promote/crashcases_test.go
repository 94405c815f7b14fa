package main

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/internal/fake/githubtest"
)

// A crashCase is a run that is ended at each of its points.
type crashCase struct {
	name   string
	before []string // arguments of a run that comes first
	args   []string
	exit   int               // code of the uninterrupted run
	only   string            // how its points begin that are tried; empty: all are
	env    []string          // that the program has
	review githubtest.Review // that pull requests of the infra repository get
}

func crashCases() []crashCase {
	promote := func(version string, more ...string) []string {
		return append([]string{"promote", "--image", "ghcr.io/acme/product-import:" + version}, more...)
	}
	late := githubtest.Review{Missing: "Required status check \"lint\" is expected.", Looks: 1}
	before, rollback := promote("v2.0.0"), []string{"rollback", "--reason", "wrong prices"}
	return []crashCase{
		{name: "promote", args: promote("v2.0.0", append([]string{"--steps", "10@100ms,100"}, askingGates()...)...)},
		{name: "measured", args: promote("v2.0.0", append([]string{"--steps", "100"}, measuredGates()...)...), only: "ask "},
		{name: "take-back", args: promote("v2.0.0-broken", "--steps", "10,100"), exit: 8},
		{name: "rollback", before: before, args: rollback},
		{name: "reviewed", args: promote("v2.0.0", "--steps", "10,100", "--mode", "pull-request"), only: "forge ", env: onForge},
		{name: "blocked", args: promote("v2.0.0", "--steps", "10,100", "--mode", "pull-request"), only: "forge ", env: onForge, review: late},
		{name: "rollback reviewed", before: before, args: append(rollback, "--mode", "pull-request"), only: "forge ", env: onForge},
		{name: "by api", args: promote("v2.0.0", "--steps", "10,100", "--commit", "api"), only: "forge ", env: onForge},
		{name: "shown", args: promote("v2.0.0", "--steps", "10,100", "--statuses", "--deployments"), only: "forge ", env: onForge},
		{name: "shown take-back", args: promote("v2.0.0-broken", "--steps", "10,100", "--statuses", "--deployments"), exit: 8, only: "forge ", env: onForge},
	}
}

// end is the code of the uninterrupted run.
func (c crashCase) end() string { return strconv.Itoa(c.exit) }

// endsBy are the codes that a run may end with when it is ended so: a signal
// that comes when all is done is too late.
func (c crashCase) endsBy(how string) []string {
	switch how {
	case "KILL":
		return []string{"killed"}
	case "PANIC":
		return []string{strconv.Itoa(exit.Internal)}
	}
	return []string{strconv.Itoa(exit.Cancelled), c.end()}
}

// world is one for the case, with what comes first.
func (c crashCase) world(t *testing.T) *world {
	t.Helper()
	w := worldWithGates(t, "").world
	w.hub.Infra.Wants(c.review)
	if c.before != nil {
		if code, out := w.program(t, nil, c.before); code != "0" {
			t.Fatalf("the run before ended with %s:\n%s", code, out)
		}
	}
	return w
}

// shown is what the infra repository's forge shows in the end: the newest status of
// each deployment, and each commit whose status is still pending.
func (w *world) shown() []string {
	var all []string
	for _, d := range w.hub.Infra.Deployments() {
		state := "nothing said"
		if n := len(d.Statuses); n > 0 {
			state = d.Statuses[n-1].State
		}
		all = append(all, d.Environment+": "+state)
	}
	newest := map[string]string{}
	for _, s := range w.hub.Infra.Statuses() {
		newest[s.Commit] = s.State
	}
	for _, commit := range slices.Sorted(maps.Keys(newest)) {
		if newest[commit] == "pending" {
			all = append(all, "pending: "+commit)
		}
	}
	return all
}
