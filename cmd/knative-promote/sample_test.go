package main

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"
)

// What takes minutes is tried by samples: a small one with go test alone, a larger one
// with -more, everything with -all.
var (
	all  = flag.Bool("all", false, "have TestFaults try every fault at every moment, TestCrashes every end at every point, TestForgeSecrets every answer to every request, and TestNobodyEndsTheProcess look into what the program is made of; with all that -more does")
	more = flag.Bool("more", false, "run every script, and larger samples of what -all tries")
)

// oneOf is of how many cases the sample has one, without and with -more.
func oneOf(few, many int) int {
	switch {
	case *all:
		return 1
	case *more:
		return many
	}
	return few
}

// scripts are those that are run: all with -more, and where -run names one. Else one
// for each thing that the program promises.
func scripts(t *testing.T) []string {
	t.Helper()
	folder := filepath.Join("..", "..", "testdata", "script")
	if *all || *more || strings.Contains(flag.Lookup("test.run").Value.String(), "TestScripts/") {
		files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	var files []string
	for name := range strings.FieldsSeq(sample) {
		files = append(files, filepath.Join(folder, name+".txtar"))
	}
	return files
}

// sample are the scripts that go test alone runs.
const sample = `
	first-deployment promote-in-steps bad-inputs signed preflight-stops check-pull-request
	broken-image-rolled-back slo-fails-rolled-back
	concurrent-promotions resume-after-kill cancel-rolls-back
	rollback-to-commit fix-while-old-crashes
	from-staging pipeline pull-request-by-people secret-in-reason
`
