package report

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// CommentLimit is the most bytes of a comment: GitHub refuses one of more than
// 65,536 characters.
const CommentLimit = 65536

// The most of what comes many times. With these, and the limits of names and
// reasons, all but the difference has room in a comment whatever the texts are.
const (
	maxTags     = 4
	maxSteps    = 30
	maxGates    = 8
	maxMeasured = 4
	maxRollback = 4000 // bytes of a command
)

// A Place is where a promotion happens, as far as a page alone needs it.
type Place struct {
	Target        string                       // tells equal names apart: the infra repository and its branch
	CommitURL     string                       // web address of a commit of the infra repository, up to its hash; empty: no links
	RollbackTo    func(revision string) string // shell command that rolls the promotion back; nil: none is known
	RollbackNeeds []string                     // environment variables that RollbackTo reads
}

// Marker is the hidden first line of the comment about one Service, by which
// it is found again. It says nothing of the names that make it, which may hold
// what is hidden everywhere else.
func Marker(r event.Result, at Place) string {
	names := strings.Join([]string{at.Target, r.Application, r.Overlay, r.Service, r.Environment}, "\x00")
	return fmt.Sprintf("<!-- knative-promote:%.10x -->", sha256.Sum256([]byte(names)))
}

// Comment is the body of the pull request comment about one promotion or
// rollback, finished or not, or, where the command is diff, about what a
// promotion would do. It is at most CommentLimit bytes long: the difference
// of the manifests is shortened until it fits.
func Comment(r event.Result, at Place) string {
	marker := Marker(r, at) + "\n\n"
	return marker + page(r, at, CommentLimit-len(marker))
}

// Summary is the same for the summary of the job, of at most room bytes.
func Summary(r event.Result, at Place, room int) string {
	return page(r, at, room)
}

func page(r event.Result, at Place, room int) string {
	top := heading(r) + explanation(r, at) + evidence(r) + preflightList(r) + missingList(r) + changeTable(r) + stepTable(r, at.CommitURL) + measured(r) + trafficChart(r)
	bottom := footer(r)
	verb := "changed"
	if missed(r) {
		verb = "would have changed"
	}
	sections := []section{{difference: r.Difference, verb: verb, open: planned(r)}}
	for _, d := range r.Drift {
		sections = append(sections, section{difference: d.Changes, verb: "changed in " + d.From + " since the last promotion from there, and not so here", open: planned(r), level: changedFields})
	}
	return top + strings.Join(shrink(room-len(top)-len(bottom), sections), "") + bottom
}
