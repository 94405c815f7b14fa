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
	first-deployment promote-in-steps unchanged dry-run bad-inputs protected-branch configuration signed commit-by-api
	broken-image-rolled-back bake-fails-rolled-back compare-fails-rolled-back probe-fails-rolled-back slo-fails-rolled-back
	analysis-job warm-up policy-denied preflight-stops check-types check-pull-request diff-pull-request
	concurrent-promotions superseded-by-person resume-after-kill cancel-rolls-back freeze-overridden
	rollback-previous rollback-to-commit rollback-while-frozen rollback-past-what-crashes restore-with-crashed-previous
	fix-while-old-crashes service-made-anew rolled-back-in-the-cluster blue-green-by-hand previous-gone-same tag-on-a-failed-revision
	from-staging prepare pipeline pull-request deploy-by-comment statuses deployments history record-two-versions secret-in-reason
`
