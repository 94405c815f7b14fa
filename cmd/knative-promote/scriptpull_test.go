package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// contribute is what people and the forge do with a pull request, which is a branch:
//
//	pull commit BRANCH MESSAGE DIR   commit the files of a folder on it; it begins at main
//	pull checkout BRANCH             check out its merge into main, as actions/checkout does
//	pull update BRANCH               merge main into it; main's files win
//	pull merge|squash|rebase BRANCH  merge it into main, and delete it
func contribute(ts *testscript.TestScript, w *world, args []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := clone{ts, ts.MkAbs("person"), args[1]}
	if args[0] == "checkout" {
		c.dir = ts.MkAbs("checkout")
	}
	if _, err := os.Stat(c.dir); err != nil {
		w.git(ts, "clone", "--quiet", w.bare, c.dir)
	}
	c.git("fetch", "--quiet", "--prune", "origin")
	switch args[0] {
	case "commit":
		c.commit(args[2], ts.MkAbs(args[3]))
	case "checkout":
		c.git("checkout", "--quiet", "--detach", "origin/main")
		c.git("merge", "--quiet", "--no-ff", "-m", "Merge the pull request", "origin/"+c.branch)
	case "update":
		c.git("checkout", "--quiet", "-B", c.branch, "origin/"+c.branch)
		c.git("merge", "--quiet", "--no-ff", "--no-commit", "-X", "theirs", "origin/main")
		c.git("checkout", "--quiet", "origin/main", "--", ":(glob)**/knative-promote-*.yaml") // as a whole, as its checksum wants
		c.git("commit", "--quiet", "-m", "Merge main")
		c.git("push", "--quiet", "origin", "HEAD:"+c.branch)
	default:
		c.merge(args[0])
		w.git(ts, "update-ref", "-d", "refs/heads/"+c.branch)
	}
	w.noteTips()
}

// clone is a person's, with a branch of hers.
type clone struct {
	ts          *testscript.TestScript
	dir, branch string
}

func (c clone) git(args ...string) {
	_, err := gittest.Git(c.dir, nil, append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
	c.ts.Check(err)
}

func (c clone) commit(message, from string) {
	start := "origin/main"
	if _, err := gittest.Git(c.dir, nil, "rev-parse", "--verify", "origin/"+c.branch); err == nil {
		start = "origin/" + c.branch
	}
	c.git("checkout", "--quiet", "-B", c.branch, start)
	c.ts.Check(copyOver(c.dir, from))
	c.git("add", "--all")
	c.git("commit", "--quiet", "-m", message)
	c.git("push", "--quiet", "origin", "HEAD:"+c.branch)
}

// merge is that of the forge's button.
func (c clone) merge(how string) {
	c.git("checkout", "--quiet", "--detach", "origin/main")
	switch how {
	case "merge":
		c.git("merge", "--quiet", "--no-ff", "-m", "Merge pull request", "origin/"+c.branch)
	case "squash":
		c.git("merge", "--quiet", "--squash", "origin/"+c.branch)
		c.git("commit", "--quiet", "-m", "Squash the pull request")
	case "rebase":
		c.git("checkout", "--quiet", "--detach", "origin/"+c.branch)
		c.git("rebase", "--quiet", "--force-rebase", "origin/main")
	default:
		c.ts.Fatalf("pull: unknown word %q", how)
	}
	c.git("push", "--quiet", "origin", "HEAD:main")
}
