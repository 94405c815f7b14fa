package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

func TestDiffComment(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/overlays/*.txtar", "comment.md", func(t *testing.T, parts map[string][]byte) string {
		diff := Diff{Own: named(strings.Fields(string(parts["own"]))), Refused: strings.TrimSpace(string(parts["refused"]))}
		if err := json.Unmarshal(parts["overlays.json"], &diff.Overlays); err != nil {
			t.Fatal(err)
		}
		for name, into := range map[string]any{"windows.json": &diff.Windows, "checkout.json": &diff.Checkout} {
			if text, is := parts[name]; is {
				if err := json.Unmarshal(text, into); err != nil {
					t.Fatal(err)
				}
			}
		}
		comment := DiffComment(diff)
		if !strings.HasPrefix(comment, DiffMarker+"\n") {
			t.Errorf("comment does not start with its marker: %.80q", comment)
		}
		checkPage(t, comment, CommentLimit)
		checkPage(t, DiffSummary(diff, summaryRoom), summaryRoom)
		return comment
	})
}

// long is a difference of n objects with lines of width bytes.
func long(n, width int) manifest.Difference {
	render := func(value string) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "---\nkind: ConfigMap\nmetadata: {name: settings-%d}\na: x\nb: x\nc: x\nd: %s%s\ne: x\nf: x\ng: x\n", i, value, strings.Repeat("-", width))
		}
		return []byte(b.String())
	}
	return manifest.Compare(render("old"), render("new"))
}

func TestLadder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		objects, width int
		want           string
	}{
		{3, 10, "lines</summary>"},
		{412, 20, "less context</summary>"},
		{475, 20, "changed lines only</summary>"},
		{100, 2000, "changed fields only</summary>"},
		{600, 150, "too long to show line by line</summary>"},
		{2500, 10, "(too long to show here; the run's log has it)"},
	} {
		page := DiffComment(Diff{Overlays: []Overlay{{Path: "apps/a", Difference: long(c.objects, c.width)}}})
		checkPage(t, page, CommentLimit)
		if !strings.Contains(page, c.want) || !strings.Contains(page, fmt.Sprintf("%d objects changed, +%[1]d −%[1]d lines", c.objects)) {
			t.Errorf("%d objects: want %q in\n%.400s", c.objects, c.want, page)
		}
	}
}

func TestLongDiffsYieldFirst(t *testing.T) {
	t.Parallel()
	overlays := []Overlay{{Path: "apps/small", Difference: long(3, 10)}, {Path: "apps/huge", Difference: long(2500, 10)}, {Path: "apps/large", Difference: long(500, 60)}}
	page := DiffComment(Diff{Overlays: overlays})
	checkPage(t, page, CommentLimit)
	for _, want := range []string{
		"+3 −3 lines</summary>", "+2500 −2500 lines (too long", "+500 −500 lines, too long to show line by line</summary>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%.2000s", want, page)
		}
	}
}

// TestLongTextHidesNoOtherField has a file in a ConfigMap that changes beyond
// the room of a comment, beside the image, a hidden value and a new object.
func TestLongTextHidesNoOtherField(t *testing.T) {
	t.Parallel()
	render := func(value string) []byte {
		return fmt.Appendf(nil, "kind: ConfigMap\nmetadata: {name: files}\ndata: {page.html: \"%s %s|\"}\n---\n"+
			"kind: Service\nmetadata: {name: shop}\nspec: {containers: [{name: app, image: \"shop:%[2]s\", env: [{name: API_TOKEN, value: %[2]s}]}]}\n---\n"+
			"kind: ConfigMap\nmetadata: {name: %[2]s}\n", strings.Repeat("`x` ", 20000), value)
	}
	page := DiffComment(Diff{Overlays: []Overlay{{Path: "apps/shop", Difference: manifest.Compare(render("v1"), render("v2"))}}})
	checkPage(t, page, CommentLimit)
	const want = "4 objects changed, +6 −6 lines, changed fields only</summary>\n\n" +
		"- changed `ConfigMap files` (+1 −1)\n  - `data[page.html]`: ``…` `x` `x` `x` `x` `x`  v1|'`` → ``…` `x` `x` `x` `x` `x`  v2|'``\n" +
		"- changed `Service shop` (+2 −2)\n  - `spec.containers[app].image`: `shop:v1` → `shop:v2`\n" +
		"  - `spec.containers[app].env[API_TOKEN].value`: `<hidden>` → `<hidden, changed>`\n" +
		"- added `ConfigMap v2` (+3 −0)\n- removed `ConfigMap v1` (+0 −3)\n\n</details>\n"
	if !strings.Contains(page, want) {
		t.Errorf("no\n%s\nin\n%.3000s", want, page)
	}
}

func TestMoreOverlaysThanFit(t *testing.T) {
	t.Parallel()
	var overlays []Overlay
	for i := range 3000 {
		overlays = append(overlays, Overlay{Path: fmt.Sprint("apps/", i), Difference: long(1, 10), Warnings: []string{"w"}})
	}
	page := DiffComment(Diff{Overlays: overlays})
	checkPage(t, page, CommentLimit)
	if !strings.Contains(page, "more overlays not shown here: `apps/1") || !strings.HasPrefix(page, DiffMarker+"\n\n## ⚠️ 3000 overlays would change, 3000 with warnings") {
		t.Errorf("got %.200s … %s", page, page[len(page)-200:])
	}
}

// TestMoreWindowsThanFit names each file of windows whose changes are not shown.
func TestMoreWindowsThanFit(t *testing.T) {
	t.Parallel()
	var changes []FileChange
	for _, file := range []string{"a.yaml", "b.yaml", "c.yaml", "z.yaml"} {
		changes = append(changes, FileChange{File: file, Removed: []string{"stop: incident 4711"}})
	}
	page := DiffComment(Diff{Windows: changes})
	if want := "⚠️ More files with windows of promotions change: `c.yaml`, `z.yaml`. Look at the whole difference of each."; !strings.Contains(page, want) {
		t.Errorf("no\n%s\nin\n%s", want, page)
	}
}

// TestListIsShort has names that are too long for all of them.
func TestListIsShort(t *testing.T) {
	t.Parallel()
	names := []string{strings.Repeat("a", 200), strings.Repeat("b", 200)}
	long := slices.Repeat(names, 10)
	if got := list(long, "more file"); !strings.HasSuffix(got, "` and 13 more files") || len(got) > maxList+30 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestManyFindingsFit has as many findings of files, overlays and folders as a pull request may bring: a comment that no forge
// takes would leave an older one to be read.
func TestManyFindingsFit(t *testing.T) {
	t.Parallel()
	var many []event.Finding
	var names []string
	for i := range 1_000 {
		many = append(many, event.Finding{Severity: event.SeverityWarning, Rule: "windows-unknown", Problem: fmt.Sprint("nothing is called ", i), Evidence: strings.Repeat("x", 300)})
		names = append(names, fmt.Sprint("apps/", i, "/", strings.Repeat("x", 200)))
	}
	worst := append(slices.Clone(many), event.Finding{Severity: event.SeverityError, Rule: "worst", Problem: "the worst"})
	change := FileChange{File: "windows.yaml", Findings: many, Added: names, Removed: names}
	diff := Diff{Checkout: worst, Records: many, Windows: []FileChange{change, change, change}, Pipeline: change, Alike: names, Beside: names, Measured: names, Judged: names, Silent: names, Unused: names,
		Own: []FileChange{change, change}, Overlays: []Overlay{{Path: "apps/web", Difference: long(3, 10), Findings: many}}}
	comment := DiffComment(diff)
	checkPage(t, comment, CommentLimit)
	for _, want := range []string{"the worst", "more findings in the log", "Not all is shown here", "apps/web"} {
		if !strings.Contains(comment, want) {
			t.Errorf("%q is not shown", want)
		}
	}
}
