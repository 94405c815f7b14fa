package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/apart"
	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/internal/httpx"
)

func TestMain(m *testing.M) {
	// The scripts mostly wait for the servers that they run against.
	if err := flag.Set("test.parallel", "24"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) == 2 && os.Args[1] == workApart {
		apart.Serve(os.Stdin, os.Stdout, 512<<20, os.Exit, parts...)
		return
	}
	httpx.RefuseOthers() // as the program does
	partsApart()
	testscript.Main(m, map[string]func(){"knative-promote": main, "knative-promote-crashing": crashing})
}

// TestScripts runs the whole program as testdata/script says, against real git
// over HTTP, an Argo CD API over a model of Knative, and a GitHub API. Each
// script has these for itself, and after each the promises are checked. Without
// -more, a sample of them is run.
//
// The program runs in the test's own process.
//
// The infra repository begins as testdata/infra with the script's files below
// infra/ over it. The file world says what else is different: a line
// `auto-sync off`, `service NAME`, `path FOLDER`, `read-only` for a git token that may not
// push, `denied RESOURCE/ACTION` for an Argo CD token that may not do this,
// `signals` where one in the background has one, because it is signalled,
// `polls` for an Argo CD that finds commits by itself within seconds, `processes`
// where each run has a process of its own, because it has little time, and renders in
// one process wait for each other, or because it writes into its folder, or
// `customized FILE` for the resource customizations of argocd-cm. `staging on` is for
// a second environment, `qa on` for a third one, `beside NAME` for another Service of the overlay that is promoted too, `twin on` for a second Application of the overlay, `staging elsewhere` for one with an Argo CD of its own, `staging branch` for one on the branch staging.
func TestScripts(t *testing.T) {
	t.Parallel()
	var checked atomic.Int32
	files := scripts(t)
	t.Cleanup(func() {
		if n := checked.Load(); !t.Failed() && int(n) < 2*len(files) && flag.Lookup("test.run").Value.String() == "" {
			t.Errorf("the scripts made %d commits in all, so the promises were hardly checked", n)
		}
	})
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       golden.Update(),
		Cmds:                commands(),
		Setup: func(env *testscript.Env) error {
			w, err := newWorld(env)
			if err != nil {
				return err
			}
			env.Defer(func() {
				w.close()
				n, broken := w.checkPromises()
				checked.Add(int32(n))
				if broken != nil {
					env.T().Fatal("promises broken:\n" + broken.Error())
				}
			})
			return nil
		},
	})
}

// The secrets of every script. No part of the word may show up anywhere.
const (
	secretWord = "s3cr3t"
	gitToken   = "git-" + secretWord + "-0b1c"
	argoToken  = "argocd-" + secretWord + "-7d2e"
	otherToken = "argocd-" + secretWord + "-51aa" // for the Argo CD of staging, where it has one
	hubToken   = "ghs_" + secretWord + "94f1"
)

// unlike says how a script's world differs from the usual one.
type unlike struct {
	service, path string
	autoSync      bool
	readOnly      bool
	staging       bool
	qa            bool
	beside        string // another Service of the overlay that is promoted too
	twin          bool   // a second Application of the overlay, in another namespace
	elsewhere     bool   // staging has an Argo CD of its own
	onBranch      bool   // staging is on the branch staging
	polls         bool
	processes     bool // each run of the program has a process of its own
	signals       bool // each in the background has
	denied        []string
	overrides     map[string]v1alpha1.ResourceOverride
}

func readSetting(workDir string) (unlike, error) {
	s := unlike{service: "product-import", path: "apps/product-import/overlays/production", autoSync: true}
	text, err := os.ReadFile(filepath.Join(workDir, "world"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "service":
			s.service = value
		case "path":
			s.path = value
		case "auto-sync":
			s.autoSync = value != "off"
		case "qa":
			s.qa = true
		case "beside":
			s.beside = value
		case "twin":
			s.twin = true
		case "staging":
			s.staging, s.elsewhere, s.onBranch = true, value == "elsewhere", value == "branch"
		case "read-only":
			s.readOnly = true
		case "processes":
			s.processes = true
		case "signals":
			s.signals = true
		case "polls":
			s.polls = true
		case "denied":
			s.denied = append(s.denied, value)
		case "customized":
			text, err := os.ReadFile(filepath.Join(workDir, value))
			if err := errors.Join(err, yaml.Unmarshal(text, &s.overrides)); err != nil {
				return s, err
			}
		default:
			return s, fmt.Errorf("world: unknown line %q", line)
		}
	}
	return s, err
}
