package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// DiffMarker is the hidden first line of DiffComment.
const DiffMarker = "<!-- knative-promote:diff -->"

// A FileChange is what a pull request changes of a file of the infra repository that
// runs go by. The zero value is nothing.
type FileChange struct {
	File           string
	Findings       []event.Finding
	Removed, Added []string // what it says, in words
}

// A Diff is what a pull request changes of the infra repository.
type Diff struct {
	Commit   string // that it was made of, as a comment may be older than the pull request is; empty: it is not said
	Overlays []Overlay
	Alike    []string        // folders that change as overlays show which build on them
	Own      []FileChange    // changed files that are the tool's own, but for those that are just what prepare writes
	Beside   []string        // changed files that change what Argo CD renders, and not what is rendered here
	Measured []string        // changed files with AnalysisTemplates that the pipeline file names
	Judged   []string        // changed files with policies
	Silent   []string        // changed files that overlays are rendered from which render as before
	Unused   []string        // kustomizations of components with changes that no overlay builds on: nothing shows these
	Checkout []event.Finding // about Argo CD's checkout of the whole repository
	Records  []event.Finding // about records that are none of the tool's
	Windows  []FileChange    // of the files that freeze promotions
	Pipeline FileChange      // of the pipeline file
	Refused  string          // why the policies cannot be asked, in words; empty: they can
}

// Findings are all of them, in the order of the page.
func (d Diff) Findings() []event.Finding {
	all := slices.Concat([]event.Finding{}, d.Checkout, d.Records)
	for _, change := range d.Windows {
		all = append(all, change.Findings...)
	}
	all = append(all, d.Pipeline.Findings...)
	for _, o := range d.Overlays {
		all = append(all, o.Findings...)
	}
	return all
}

// DiffComment is the body of the comment on a pull request of the infra
// repository: what it changes in every overlay, which of the files that are the
// tool's own, and what of the files that runs go by. It is at most CommentLimit bytes long; the
// longest diffs are shortened first.
func DiffComment(d Diff) string {
	return DiffMarker + "\n\n" + d.page(CommentLimit-len(DiffMarker)-2)
}

// DiffSummary is the same for the summary of the job, of at most room bytes.
func DiffSummary(d Diff, room int) string { return d.page(room) }

const (
	maxWarnings = 5
	maxWarning  = 600 // bytes
	maxFiles    = 25
	maxWindows  = 2    // files
	maxList     = 1500 // bytes of names
)

func (d Diff) page(room int) string {
	var heads []string
	var sections []section
	overlays := d.Overlays
	title := d.heading() + d.of() + d.notes() + d.beforeAll() + d.refusal() + d.files() + d.alike()
	if most := room * 3 / 4; len(title) > most {
		title = title[:strings.LastIndexByte(title[:most], '\n')+1] + "\n" + severityIcon(event.SeverityWarning) + " Not all is shown here: look at the log.\n\n"
	}
	left := room - len(title)
	shown := 0
	for _, overlay := range overlays {
		head := overlay.head()
		if len(head) > left-room/4 { // the last quarter is for the diffs
			break
		}
		left -= len(head)
		shown++
		heads = append(heads, head, "") // both differences stand below one
		sections = append(sections, section{difference: overlay.Difference, verb: "changed", open: len(overlays) == 1, log: true},
			section{difference: overlay.Later, verb: "changed by the next promotion", open: len(overlays) == 1, log: true})
	}
	tail := ""
	if n := len(overlays) - shown; n > 0 {
		var names []string
		for _, overlay := range overlays[shown:] {
			names = append(names, overlay.Path)
		}
		tail = plural(n, "more overlay") + " not shown here: " + list(names, "more overlay") + ".\n"
	}
	var b strings.Builder
	b.WriteString(title)
	for i, diff := range shrink(left-len(tail), sections) {
		b.WriteString(heads[i] + diff)
	}
	return b.String() + tail
}

func (d Diff) heading() string {
	changed, broken, large, warned := 0, 0, 0, 0
	for _, o := range d.Overlays {
		switch {
		case o.Err != "":
			broken++
		case len(o.Difference) > 0:
			changed++
		}
		if o.Large != "" {
			large++
		}
		if len(o.Warnings)+len(o.Later) > 0 {
			warned++
		}
	}
	words := "No overlay would change"
	if changed > 0 {
		words = plural(changed, "overlay") + " would change"
	}
	if broken > 0 {
		words += fmt.Sprintf(", %d would not render", broken)
	}
	if large > 0 {
		words += fmt.Sprintf(", %d too large", large)
	}
	if warned > 0 {
		words += fmt.Sprintf(", %d with warnings", warned)
	}
	found := d.Findings()
	if len(found) > 0 {
		words += "; " + event.Tally(found)
	}
	icon := "🔍"
	switch {
	case broken+large > 0 || d.Refused != "" || event.Count(found, event.SeverityError) > 0:
		icon = severityIcon(event.SeverityError)
	case warned > 0 || d.notes() != "" || event.Count(found, event.SeverityWarning) > 0:
		icon = severityIcon(event.SeverityWarning)
	}
	return "## " + icon + " " + words + "\n\n"
}

// of names the commit. Forges make a link of it.
func (d Diff) of() string {
	if d.Commit == "" {
		return ""
	}
	return "Of commit " + d.Commit + ".\n\n"
}

// alike names the folders that are shown by what builds on them: they may be deployed by themselves too.
func (d Diff) alike() string {
	if len(d.Alike) == 0 {
		return ""
	}
	return "These folders change as the overlays show that build on them: " + list(d.Alike, "more folder") + ".\n\n"
}

// list names the first of some files, folders or overlays, in at most maxList bytes or one name.
func list(names []string, more string) (text string) {
	for i, name := range names {
		next := code(name, maxName)
		if i > 0 && len(text)+len(next) > maxList {
			return text + " and " + plural(len(names)-i, more)
		}
		if i > 0 {
			text += ", "
		}
		text += next
	}
	return text
}

// refusal says that nobody knows what the policies would have said.
func (d Diff) refusal() string {
	if d.Refused == "" {
		return ""
	}
	return severityIcon(event.SeverityError) + " " + reason(d.Refused, maxReason) + "\n\n"
}

// maxEntries is how many of the changed entries of such a file are shown.
const maxEntries = 40

// files are the changes of those that runs go by.
func (d Diff) files() (text string) {
	for i, change := range d.Windows {
		if i == maxWindows {
			var names []string
			for _, left := range d.Windows[i:] {
				names = append(names, left.File)
			}
			text += severityIcon(event.SeverityWarning) + " More files with windows of promotions change: " + list(names, "more file") + ". Look at the whole difference of each.\n\n"
			break
		}
		text += fileChange(change, "the windows of promotions", "No time changes.")
	}
	return text + fileChange(d.Pipeline, "what promotions go by", "What it says stays the same.")
}

// fileChange is what becomes of a file that runs go by.
func fileChange(w FileChange, what, nothing string) string {
	if w.File == "" {
		return ""
	}
	var lines []string
	short := false
	list := func(verb string, entries []string) {
		for _, entry := range entries {
			shown, whole := decisive(entry, maxReason)
			lines, short = append(lines, verb+shown), short || !whole
		}
	}
	list("removed: ", w.Removed)
	list("added: ", w.Added)
	text := "### " + code(w.File, maxName) + ", " + what + "\n\n"
	text += said(w.Findings)
	if len(w.Findings) == 0 && len(lines) == 0 {
		text += nothing + "\n"
	}
	if short || len(lines) > maxEntries {
		text += severityIcon(event.SeverityWarning) + " Not all that changes is shown here: look at the whole difference of the file.\n\n"
	}
	for _, line := range lines[:min(len(lines), maxEntries)] {
		text += "- " + line + "\n"
	}
	if left := len(lines) - maxEntries; left > 0 {
		text += "- " + plural(left, "more change") + "\n"
	}
	return text + "\n"
}

// beforeAll says what keeps Argo CD from all overlays, and what is wrong with records, which no overlay shows.
func (d Diff) beforeAll() string {
	if len(d.Checkout)+len(d.Records) == 0 {
		return ""
	}
	return said(slices.Concat(d.Checkout, d.Records)) + "\n"
}

// maxFindings is how many findings of one kind are shown. A forge takes no comment beyond its limit, and the one before stays.
const maxFindings = 10

// said are findings with what shows them, a line each, the worst first.
func said(findings []event.Finding) (text string) {
	findings = slices.SortedStableFunc(slices.Values(findings), func(a, b event.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	for i, f := range findings {
		if i == maxFindings {
			return text + severityIcon(findings[0].Severity) + " " + plural(len(findings)-i, "more finding") + " in the log\n"
		}
		text += severityIcon(f.Severity) + " " + reason(f.Problem+": "+f.Evidence, maxReason) + " (" + code(f.Rule, maxName) + ")\n"
	}
	return text
}
