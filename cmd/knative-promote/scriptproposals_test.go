package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// proposals is what people do with the pull requests of the infra repository.
//
//	proposal list                     print all: number, how it ended, branch, title and comments
//	proposal body N                   print what one says
//	proposal merge N                  merge one by the button
//	proposal close N                  close one
//	proposal push N FILE              replace a file of the repository on its branch by one of the script
//	proposal wants METHOD [MISSING]   how they are merged, squash, merge or rebase, and what a merge still needs
//	proposal rules BYPASS             a rule takes pull requests alone, and says who may push past it: always or never
//	proposal bypassed [MISSING]       the token may merge past the rules, which still want something
func proposals(ts *testscript.TestScript, w *world, args []string) {
	hub := &w.hub.Infra
	if args[0] == "list" {
		for _, p := range hub.Pulls() {
			fmt.Fprintln(ts.Stdout(), strings.TrimSpace(strings.Join(append([]string{fmt.Sprintf("#%d", p.Number), endOf(p), p.Branch, p.Title}, p.Comments...), " | ")))
		}
		return
	}
	number := 0
	if len(args) > 1 {
		number, _ = strconv.Atoi(args[1])
	}
	switch args[0] {
	case "body":
		fmt.Fprintln(ts.Stdout(), hub.Pulls()[number-1].Body)
	case "merge":
		ts.Check(hub.Merge(number))
	case "close":
		hub.Close(number)
	case "push":
		files := mapFS(map[string]string{args[2]: ts.ReadFile(args[2])})
		ts.Check(gittest.Commit(w.bare, hub.Pulls()[number-1].Branch, "Change the proposal", files))
	case "wants":
		hub.Wants(githubtest.Review{Method: args[1], Missing: strings.Join(args[2:], " "), Message: "Merge pull request"})
	case "rules":
		hub.Wants(githubtest.Review{Bypass: args[1], Message: "Merge pull request"})
	case "bypassed":
		hub.Wants(githubtest.Review{Bypass: "always", Missing: strings.Join(args[1:], " "), Message: "Merge pull request"})
	default:
		ts.Fatalf("proposal: unknown word %q", args[0])
	}
}

// endOf is what has become of a pull request.
func endOf(p githubtest.InfraPull) string {
	if p.Merge != "" {
		return "merged"
	}
	return p.State
}
