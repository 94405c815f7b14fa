package report

import "strings"

// maxSaid is how many bytes are shown of what a file says.
const maxSaid = 1000

// A FileNote is what a person must know who merges changes of some files that no difference shows.
type FileNote struct {
	Title, Text string
	Files       []FileChange // which say no more than what they say now
}

// Notes are those of a Diff, without the ones of no file.
func (d Diff) Notes() (notes []FileNote) {
	for _, note := range []FileNote{
		{"Written by knative-promote", "This pull request changes what knative-promote has written: the record of the promotions, the revision and its traffic. " +
			"That record decides what a promotion continues and where a rollback goes: merge it only where you mean that.", d.Own},
		{"Read by Argo CD", "This pull request changes how Argo CD reads an overlay, beside its kustomization: what it deploys may be something else than what is shown here.", named(d.Beside)},
		{"Measured by promotions", "This pull request changes what knative-promote.yaml has promotions measured by: what passes, and which server is asked.", named(d.Measured)},
		{"Guarded by policies", "This pull request changes the policies that promotions, checks and the diffs of pull requests are held to: what an earlier one refused may pass.", named(d.Judged)},
		{"Without effect now", "This pull request changes files that overlays are rendered from, and these render as before: what the files say may take effect with a later change or promotion. " +
			"No difference below shows it: read the files' own.", named(d.Silent)},
		{"Not shown of an overlay", "This pull request changes a component that no overlay of the repository builds on: what it makes of an overlay, such as that of an Application which names it in kustomize.components, is not shown here.", named(d.Unused)},
	} {
		if len(note.Files) > 0 {
			notes = append(notes, note)
		}
	}
	return notes
}

// named are files of which nothing is said but their names.
func named(files []string) (all []FileChange) {
	for _, file := range files {
		all = append(all, FileChange{File: file})
	}
	return all
}

// Says is what a file says now, in words; empty: nothing is said of that.
func (c FileChange) Says() string { return strings.Join(c.Added, ", ") }

// notes come before everything else.
func (d Diff) notes() (text string) {
	for _, note := range d.Notes() {
		text += note.warning()
	}
	return text
}

func (n FileNote) warning() string {
	text := "⚠️ " + n.Text + "\n\n"
	for _, file := range n.Files[:min(len(n.Files), maxFiles)] {
		text += "- " + code(file.File, maxName)
		if says := file.Says(); says != "" {
			text += " now says: " + code(says, maxSaid)
		}
		text += "\n"
	}
	if left := len(n.Files) - maxFiles; left > 0 {
		text += "- " + plural(left, "more file") + "\n"
	}
	return text + "\n"
}
