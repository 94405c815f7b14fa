package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

func heading(out io.Writer, text string) {
	fmt.Fprintf(out, "\n%s\n%s\n\n", text, strings.Repeat("═", len(text)))
}

// showInputs prints the step as a workflow has it.
func showInputs(out io.Writer, with []input) {
	fmt.Fprintln(out, "  - uses: acme/knative-promote@v1\n    with:")
	for _, in := range with {
		fmt.Fprintf(out, "      %s: %s\n", in.name, in.value)
	}
	fmt.Fprintln(out)
}

// showCommits prints the git log and the traffic after each commit.
func showCommits(out io.Writer, views []view) {
	fmt.Fprintf(out, "\nThe commits in the infra repository, and who answered %d requests after each:\n\n", requests)
	for _, v := range views {
		fmt.Fprintf(out, "  %.7s  %s\n", v.commit, v.subject)
		fmt.Fprintf(out, "           in Git  %s\n", v.inGit)
		var counts []string
		for _, version := range slices.Sorted(maps.Keys(v.counts)) {
			counts = append(counts, fmt.Sprintf("%s %d", version, v.counts[version]))
		}
		note := ""
		if !v.live {
			note = "  (this commit never became live)"
		}
		fmt.Fprintf(out, "           live    %s%s\n", strings.Join(counts, ", "), note)
	}
}

// showComment prints what the pull request shows in the end.
func (w *world) showComment(out io.Writer, s story) error {
	if s.pull == 0 {
		return nil
	}
	comments := w.hub.Comments(s.pull)
	if len(comments) != 1 {
		return fmt.Errorf("pull request %d has %d comments, promised is one", s.pull, len(comments))
	}
	body := comments[0].Body()
	if err := hidesSecrets(body); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe comment on pull request %d, updated %d times, says in the end:\n\n", s.pull, len(comments[0].Bodies)-1)
	for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
		fmt.Fprintf(out, "  │ %s\n", line)
	}
	return nil
}
