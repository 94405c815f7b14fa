package report

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

// PreparedMarker is the hidden first line of PreparedComment.
const PreparedMarker = "<!-- knative-promote:prepare -->"

// Prepared is what the command prepare has made of a pull request.
type Prepared struct {
	Services   []PreparedService
	Branch     string // that it is to be merged into
	Commit     string // that was pushed; empty: none was
	CommitURL  string // where commits of the repository are shown; empty: nowhere
	Refused    string // why none was, though there is something to push, in words
	Suggestion []File // what it would have changed
}

// A PreparedService is a Service whose template the pull request changes under a pinned
// name, or that it has a candidate of.
type PreparedService struct {
	event.Target
	From, To  string // revisions: with the traffic, and the candidate
	Withdrawn bool   // the template is the branch's again, so the candidate goes
	Skipped   string // why its template needs nothing, or can have nothing, in words; empty: it has
	Err       error  // why that failed; nil: it did not
}

// InWords is what becomes of the Service when the pull request is merged.
func (s PreparedService) InWords() string {
	switch {
	case s.Err != nil:
		return s.Err.Error()
	case s.Skipped != "":
		return s.Service + ": " + s.Skipped
	case s.Withdrawn:
		return s.Service + " has no candidate any more, as its template is as before"
	case s.From == s.To:
		return fmt.Sprintf("%s has the template of %s again, which keeps all traffic", s.Service, s.To)
	}
	return fmt.Sprintf("candidate %s of %s at 0 %%, %s keeps all traffic", s.To, s.Service, s.From)
}

// A File is one that a commit would change.
type File struct {
	Name          string
	Before, After []byte // nil: it is not there
}

// Tells tells whether there is anything for a person to know.
func (p Prepared) Tells() bool { return len(p.Services) > 0 || p.Refused != "" }

// PreparedComment is the body of the comment on the pull request. It is at most
// CommentLimit bytes long.
func PreparedComment(p Prepared) string {
	return PreparedMarker + "\n\n" + p.page(CommentLimit-len(PreparedMarker)-2)
}

// PreparedSummary is the same for the summary of the job, of at most room bytes.
func PreparedSummary(p Prepared, room int) string { return p.page(room) }

// maxPrepared is how many Services the page has in full.
const maxPrepared = 20

func (p Prepared) page(room int) string {
	var b strings.Builder
	b.WriteString(p.heading())
	if p.candidates() > 0 && (p.Refused == "" || len(p.Suggestion) > 0) {
		b.WriteString("Knative refuses a template that changes under its revision's name. With " + p.commit() +
			" each has a new name, and the merge gives it no traffic. `promote` without `image` goes on from there.\n\n")
	}
	if p.Refused != "" {
		b.WriteString("❌ Nothing was pushed to this pull request's branch: " + reason(p.Refused, maxReason) + "\n\n")
	}
	b.WriteString(p.table())
	return b.String() + p.suggestion(room-b.Len())
}

// candidates counts the Services that the merge makes a candidate of.
func (p Prepared) candidates() int {
	n := 0
	for _, s := range p.Services {
		if s.To != s.From && s.Err == nil {
			n++
		}
	}
	return n
}

func (p Prepared) heading() string {
	n := p.candidates()
	switch {
	case p.Refused != "":
		return "## ❌ Merging would be refused by Knative\n\n"
	case n == 0:
		return "## ℹ️ Merging makes no candidate\n\n"
	}
	return "## ✅ Merging makes " + plural(n, "candidate") + " at 0 %\n\n"
}

// commit is what gives the candidates their names.
func (p Prepared) commit() string {
	switch {
	case p.Commit != "" && p.CommitURL != "":
		return "commit " + link(code(p.Commit[:min(len(p.Commit), 7)], maxName), p.CommitURL+p.Commit)
	case p.Commit != "":
		return "commit " + code(p.Commit[:min(len(p.Commit), 7)], maxName)
	case len(p.Suggestion) > 0:
		return "the change below"
	}
	return "the candidate on this branch"
}

// table has a row for each Service.
func (p Prepared) table() string {
	if len(p.Services) == 0 {
		return ""
	}
	text := tableRow("Overlay", "Service", "Has the traffic", "Candidate") + tableRow("---", "---", "---", "---")
	var words []string
	for _, s := range p.Services[:min(len(p.Services), maxPrepared)] {
		text += tableRow(cell(s.Overlay, maxName), cell(s.Service, maxName), cell(s.From, maxName), cell(s.To, maxName))
		switch {
		case s.Err != nil:
			words = append(words, "- ❌ "+reason(s.Err.Error(), maxReason))
		case s.Skipped != "" || s.Withdrawn || s.From == s.To:
			words = append(words, "- ⚠️ "+code(s.Overlay, maxName)+": "+reason(s.InWords(), maxReason))
		}
	}
	if left := len(p.Services) - maxPrepared; left > 0 {
		words = append(words, "- "+plural(left, "more Service")+" in the log")
	}
	text += "\n"
	if len(words) > 0 {
		text += strings.Join(words, "\n") + "\n\n"
	}
	return text
}

// suggestion is the change for a person to apply, as far as there is room: a part of
// it would be of no use.
func (p Prepared) suggestion(room int) string {
	if len(p.Suggestion) == 0 {
		return ""
	}
	diff := ""
	for _, file := range p.Suggestion {
		from, to := "a/"+file.Name, "b/"+file.Name
		if file.Before == nil {
			from = "/dev/null"
		}
		if file.After == nil {
			to = "/dev/null"
		}
		before := string(file.Before)
		one, err := udiff.ToUnified(from, to, before, udiff.Lines(before, string(file.After)), udiff.DefaultContextLines)
		if err != nil {
			return "The change cannot be shown here: " + reason(err.Error(), maxReason) + "\n"
		}
		diff += one
	}
	text := folded("Push this to the pull request's branch, with git apply", fenced("diff", manifest.HideSecrets(diff)), true)
	if len(text) > room {
		return "The change is too long to show here.\n"
	}
	return text
}
