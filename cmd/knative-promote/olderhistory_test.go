package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// sixtyDays moves all commits of main, which makes others of them than those that records name, by as many days.
const sixtyDays = `set -e
export FILTER_BRANCH_SQUELCH_WARNING=1
git clone -q "$1" "$2"
cd "$2"
git filter-branch --env-filter '
older() { set -- ${1#@}; echo "@$(($1 - 5184000)) $2"; }
GIT_AUTHOR_DATE=$(older "$GIT_AUTHOR_DATE") GIT_COMMITTER_DATE=$(older "$GIT_COMMITTER_DATE")
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
' main
git -C "$1" fetch -q --force "$2" main:main
`

// older makes the infra repository's commits sixty days older. What was ready at each is as before.
func (w *world) older(ts *testscript.TestScript) {
	folder, err := os.MkdirTemp(w.dir, "older")
	ts.Check(err)
	before := strings.Fields(w.git(ts, "rev-list", "main"))
	out, err := exec.Command("sh", "-c", sixtyDays, "sh", w.bare, filepath.Join(folder, "clone")).CombinedOutput()
	if err != nil {
		ts.Fatalf("making the past older: %v\n%s", err, out)
	}
	for n, commit := range strings.Fields(w.git(ts, "rev-list", "main")) {
		w.readyAt[commit], w.downAt[commit] = w.readyAt[before[n]], w.downAt[before[n]]
	}
	w.argo.Refresh("the-app")
}
