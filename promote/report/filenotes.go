package report

// A FileNote is what a person must know who merges changes of some files that no difference shows.
type FileNote struct {
	Title, Text string
	Files       []string
}

// Notes are those of a Diff, without the ones of no file.
func (d Diff) Notes() (notes []FileNote) {
	for _, note := range []FileNote{
		{"Written by knative-promote", "This pull request changes what knative-promote has written: the record of the promotions, the revision and its traffic. " +
			"That record decides what a promotion continues and where a rollback goes: merge it only where you mean that.", d.Own},
		{"Read by Argo CD", "This pull request changes how Argo CD reads an overlay, beside its kustomization: what it deploys may be something else than what is shown here.", d.Beside},
		{"Measured by promotions", "This pull request changes what knative-promote.yaml has promotions measured by: what passes, and which server is asked.", d.Measured},
		{"Guarded by policies", "This pull request changes the policies that promotions, checks and the diffs of pull requests are held to: what an earlier one refused may pass.", d.Judged},
		{"Not shown of an overlay", "This pull request changes a component that no overlay of the repository builds on: what it makes of an overlay, such as that of an Application which names it in kustomize.components, is not shown here.", d.Unused},
	} {
		if len(note.Files) > 0 {
			notes = append(notes, note)
		}
	}
	return notes
}

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
		text += "- " + code(file, maxName) + "\n"
	}
	if left := len(n.Files) - maxFiles; left > 0 {
		text += "- " + plural(left, "more file") + "\n"
	}
	return text + "\n"
}
