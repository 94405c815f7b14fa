package report

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

// hostile are texts that want to be more than text.
var hostile = []string{
	"", " ", "  ", "`", "``", " `a` ", "a`", "```\n```", "~~~~", "</code></details>", "<!-- knative-promote:a/b/c -->", "-->",
	"@acme/admins", "#123", "acme/app#1", "https://evil.example", "[a](javascript:alert(1))", "<img src=x onerror=y>",
	"a|b", `a\|b`, `a\`, "\\`", "&lt;&#124;", "*b* _i_ ~~s~~ :boom:", "a\r\nb\u2028c", "\x1b[31mred\x1b[0m", "\u202etxt", "a\u200bb",
	"\ufe0f\u3164", "\xff\xfe", "\x00", "- item", "# head", "    indented", "```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n```",
	"::set-output name=a::b", "##[error]x", "$(rm -rf /)", "'; rm -rf /; '", "%%{init: {}}%%", `"];alert`, strings.Repeat("`", 5000),
}

func TestCodeIsVerbatim(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		checkCode(t, text)
	}
}

func FuzzCode(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(checkCode)
}

// checkCode renders text where names and reasons stand: in a heading, a
// paragraph, a list, a table and a block.
func checkCode(t *testing.T, text string) {
	t.Helper()
	const limit = 200
	page := "## x " + code(text, limit) + " y\n\n- **x** " + code(text, limit) + "\n\n" +
		tableRow("a", "b") + "|---|---|\n" + tableRow(cell(text, limit), "z") + "\n" + folded("s", fenced("diff", text), false) + "<sub>x</sub>\n"
	checkPage(t, page, 10*limit+8*len(text)+200+4*len(fenced("diff", text)))
	shown := manifest.Shorten(manifest.Visible(text), limit)
	if shown == "" {
		return
	}
	want := []string{shown, shown, manifest.Shorten(strings.ReplaceAll(shown, "|", `\u007c`), limit)}
	got := inCode(t, page)
	if len(got) != 4 || !slices.Equal(got[:3], want) {
		t.Fatalf("code spans of %q show %q, want %q and a block", text, got, want)
	}
	if block := visibleLines(strings.TrimSuffix(text, "\n")) + "\n"; got[3] != block {
		t.Errorf("code block of %q shows %q, want %q", text, got[3], block)
	}
}

func TestLinkOnlyToPlainWebAddresses(t *testing.T) {
	t.Parallel()
	const good = "https://github.example.com:8443/a/b?c=d&e=%20#f"
	if got, want := link("run", good), "[run]("+good+")"; got != want {
		t.Errorf("link = %s, want %s", got, want)
	}
	for _, address := range []string{
		"", "run", "javascript:alert(1)", "data:text/html,x", "//host/x", "https://u:p@host/", "https://host/)[x](y", "https://host/<b>",
		"https://host/ x", "https://host/|", "https://host/\n", "https:///x", "https://host/\u202e", "https://host/`",
	} {
		if got := link("run", address); got != "run" {
			t.Errorf("link(%q) = %s, want no link", address, got)
		}
	}
}

func FuzzComment(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, text, 3)
	}
	f.Add(strings.Repeat("- x\n", 40000), strings.Repeat("x", 100000), 300)
	f.Add("no steps", "x", -1)
	f.Fuzz(func(t *testing.T, text, diff string, steps int) {
		difference := foreign(text, diff)
		r := event.Result{
			Command: "promote", Target: target(text, text, text, text), Promotion: text, Status: event.Failed,
			Reason: text, Revision: text, PreviousRevision: "old", Image: text, URL: text, CandidateURL: text, RunURL: "https://github.com/acme/shop/actions/runs/1", Actor: text,
			Difference: difference, Commit: text,
		}
		gates := slices.Repeat([]event.Gate{{Name: text, Progress: event.Broken, Reason: diff}}, 20)
		for range min(max(steps, 0), 300) {
			r.Steps = append(r.Steps, event.Step{Name: text, Percent: steps, Commit: text, Gates: gates})
		}
		checkPage(t, Comment(r, Place{}), CommentLimit)
		found := slices.Repeat([]event.Finding{{Rule: text, Severity: event.SeverityError, Problem: diff, Evidence: text}}, 20)
		overlays := slices.Repeat([]Overlay{{Path: text, Service: text, Difference: difference, Warnings: []string{text, diff}, Err: text, Large: text, Findings: found}}, len(r.Steps))
		windows := FileChange{File: text, Findings: found[:len(text)%2], Added: slices.Repeat([]string{text}, 20), Removed: []string{diff}}
		checkPage(t, DiffComment(Diff{Overlays: overlays, Own: []FileChange{{File: text, Added: []string{text}}}, Alike: slices.Repeat([]string{text}, 20), Checkout: found[:2], Windows: slices.Repeat([]FileChange{windows}, 9), Pipeline: windows, Refused: diff}), CommentLimit)
		services := slices.Repeat([]PreparedService{{Target: target(text, text, text, text), From: text, To: diff, Err: errors.New(text)}, {Skipped: text}}, len(r.Steps))
		checkPage(t, PreparedComment(Prepared{Services: services, Commit: text, Refused: diff, Suggestion: []File{{Name: text, Before: []byte(diff), After: []byte(text)}}}), CommentLimit)
	})
}

// foreign is a difference whose lines, some of them changed, are those of a text.
func foreign(name, text string) manifest.Difference {
	hunk := manifest.Hunk{From: 1, To: 1}
	signs := []manifest.Sign{manifest.Plus, manifest.Both, manifest.Minus}
	for i, line := range strings.Split(text, "\n") {
		hunk.Lines = append(hunk.Lines, manifest.Line{Sign: signs[i%len(signs)], Text: line})
	}
	fields := []manifest.Field{{Path: name, Before: text, After: name}, {Path: text}}
	return manifest.Difference{{Name: name, Change: manifest.Changed, Hunks: []manifest.Hunk{hunk}, Fields: fields, MoreFields: 1}}
}

func TestReasonsQuoteNoSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"invalid session: token: expired":                             "`invalid session: token: expired`",
		"GET https://bot:SECRETa/b@git.example.com/x: 401":            "`GET https://<hidden>@git.example.com/x: 401`",
		"header Authorization: Bearer SECRETbbbbbbbbbbbb was refused": "`header Authorization: Bearer <hidden> was refused`",
		"patch {\"key\":\"-----BEGIN RSA PRIVATE KEY-----SECRETc":     "`patch {\"key\":\"<hidden>`",
		"": "–",
	} {
		if got := reason(text, maxReason); got != want {
			t.Errorf("reason(%q) = %s, want %s", text, got, want)
		}
	}
}
