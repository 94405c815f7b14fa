package report

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote"
)

// Limits of one text, in bytes. GitHub refuses a comment of more than 65,536
// characters, and drops a whole job summary of more than 1 MiB, near that
// without a word: https://github.com/actions/runner/issues/4337
const (
	CommentLimit = 65536
	SummaryLimit = 900 << 10
)

// The most of what comes many times. With these, and the limits of names and
// reasons, all but the difference has room in a comment whatever the texts are.
const (
	maxTags  = 4
	maxSteps = 30
	maxGates = 4
	maxUndo  = 4000 // bytes of a command
)

// Marker is the hidden first line of the comment about one Service, by which
// it is found again. It says nothing of the names that make it, which may hold
// what is hidden everywhere else.
func Marker(r promote.Result) string {
	names := strings.Join([]string{r.Target, r.Application, r.Overlay, r.Service, r.Environment}, "\x00")
	return fmt.Sprintf("<!-- knative-promote:%.10x -->", sha256.Sum256([]byte(names)))
}

// Comment is the body of the pull request comment about one promotion or
// rollback, finished or not, or, where the command is diff, about what a
// promotion would do. It is at most CommentLimit bytes long: the difference
// of the manifests is shortened until it fits.
func Comment(r promote.Result) string {
	marker := Marker(r) + "\n\n"
	return marker + page(r, CommentLimit-len(marker))
}

// Summary is the same for the summary of the job, of at most SummaryLimit bytes.
func Summary(r promote.Result) string {
	return page(r, SummaryLimit)
}

func page(r promote.Result, room int) string {
	top := headline(r) + explanation(r) + preflight(r) + moves(r) + steps(r) + chart(r)
	bottom := footer(r)
	verb := "changed"
	if missed(r) {
		verb = "would have changed"
	}
	shown := fit(room-len(top)-len(bottom), []section{{difference: r.Difference, verb: verb, open: planned(r)}})
	return top + shown[0] + bottom
}

// moves is the table of what the promotion changes, and how far it is.
func moves(r promote.Result) string {
	rows := ""
	if r.Image != "" || r.PreviousImage != "" {
		rows += row("Image", cell(r.PreviousImage, maxName), cell(r.Image, maxName))
	}
	if r.Revision != "" || r.PreviousRevision != "" {
		rows += row("Revision", cell(r.PreviousRevision, maxName), cell(r.Revision, maxName))
	}
	if len(r.Traffic) > 0 {
		rows += row("Traffic now", share(r, r.PreviousRevision), share(r, r.Revision))
	}
	if rows == "" {
		return ""
	}
	return row("", "From", "To") + "|---|---|---|\n" + rows + "\n" + others(r) + addresses(r)
}

// addresses are shown as text: they come from the cluster.
func addresses(r promote.Result) string {
	var parts []string
	if r.URL != "" {
		parts = append(parts, "Service: "+code(r.URL, maxName))
	}
	if r.CandidateURL != "" && hasCandidate(r) {
		parts = append(parts, "candidate: "+code(r.CandidateURL, maxName))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " · ") + "\n\n"
}

// hasCandidate reports whether the new revision still has an address of its
// own. It goes with the candidate's tag, which the last commit of a promotion
// and one that takes something back remove; other tags are other people's.
func hasCandidate(r promote.Result) bool {
	if last, found := r.Last(); found && (last.Percent == 100 || last.TakesBack()) {
		return false
	}
	return slices.ContainsFunc(r.Traffic, func(target servingv1.TrafficTarget) bool {
		return target.RevisionName == r.Revision && target.Tag != "" && target.Tag != knative.PreviousTag
	})
}

func row(cells ...string) string {
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// share is the traffic of one revision, and the tags it answers under.
func share(r promote.Result, revision string) string {
	var percent int64
	var tags []string
	for _, target := range r.Traffic {
		if revision == "" || named(r, target) != revision {
			continue
		}
		if target.Percent != nil {
			percent += *target.Percent
		}
		if target.Tag != "" {
			tags = append(tags, ", tag "+cell(target.Tag, maxLabel))
		}
	}
	return fmt.Sprintf("**%d %%**%s", percent, strings.Join(tags[:min(len(tags), maxTags)], ""))
}

// named is the revision of a traffic target. Before the first promotion the
// traffic goes to the latest revision without naming it.
func named(r promote.Result, target servingv1.TrafficTarget) string {
	if target.RevisionName == "" {
		return r.PreviousRevision
	}
	return target.RevisionName
}

// others counts the traffic entries that are not the promotion's: of revisions
// that it does not move, and without its own tag for the one before.
func others(r promote.Result) string {
	n := 0
	for _, target := range r.Traffic {
		name := named(r, target)
		if name != r.Revision && name != r.PreviousRevision && target.Tag != knative.PreviousTag {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return plural(n, "more traffic target") + " kept as found.\n\n"
}

// footer says where the rest can be read.
func footer(r promote.Result) string {
	var parts []string
	if r.RunURL != "" {
		parts = append(parts, link("Workflow run", r.RunURL))
	}
	for _, part := range []struct{ words, name string }{
		{"Overlay ", r.Overlay}, {"Argo CD application ", r.Application}, {"promotion ", r.Promotion}, {"started by ", r.Actor},
	} {
		if part.name != "" {
			parts = append(parts, part.words+code(part.name, maxName))
		}
	}
	if !r.Started.IsZero() {
		parts = append(parts, r.Started.UTC().Format("2006-01-02 15:04 UTC")+took(", took ", r.Started, r.Ended))
	}
	if len(parts) == 0 {
		return ""
	}
	return "<sub>" + strings.Join(parts, " · ") + "</sub>\n"
}

func took(words string, started, ended time.Time) string {
	if ended.IsZero() {
		return ""
	}
	return words + duration(ended.Sub(started))
}

// duration writes d as people say it: 42 s, 3 min 5 s, 1 h 20 min.
func duration(d time.Duration) string {
	seconds := int(max(0, d).Round(time.Second).Seconds())
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 3600 && seconds%60 == 0:
		return fmt.Sprintf("%d min", seconds/60)
	case seconds < 3600:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
}
