package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/knative"
)

const someCommit = "74e5219b3179dd83185b313e8da45aa39506eafd"

// somePlace is where someRecord was written.
var somePlace = Place{Repository: "https://github.com/acme/infra.git", Branch: "main", Overlay: "apps/web/overlays/production"}

// someRecord is a record with all that there can be.
func someRecord() Record {
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	code := Code{"acme/web@" + someCommit, at.Add(-10 * time.Minute)}
	return Record{
		Format: 1, Promotion: "3f9c2d1e8a71", Repository: "https://github.com/acme/infra.git", Branch: "main", Overlay: "apps/web/overlays/production",
		Step: "10", Percent: 10, Reached: 10, Tag: "candidate", Passed: at.Add(time.Minute), Commit: someCommit,
		To:   Version{Revision: "web-3f9c2d1e", Images: []string{"ghcr.io/acme/web:v2"}, InitImages: []string{"ghcr.io/acme/migrate:v2"}},
		From: Version{Revision: "web-8a71e0c4", Images: []string{"ghcr.io/acme/web:v1"}, InitImages: []string{"ghcr.io/acme/migrate:v1"}},
		Base: someCommit, Started: at, Run: "https://github.com/acme/web/actions/runs/1", Actor: "octocat", Code: code,
		Source: Source{Overlay: "apps/web/overlays/staging", Commit: someCommit, Revision: "web-5d1c2b0f"}, Pull: 13, Cut: true,
		Past: []Entry{
			{Ended: RolledBack, Promotion: "8a71e0c43f9c", Reached: 50, Passed: at.Add(-time.Hour / 2), Gate: "slo", To: Version{Revision: "web-8a71e0c4", Images: []string{"ghcr.io/acme/web:v1"}}, Base: someCommit, Started: at.Add(-time.Hour), Actor: "Ada: \"#1\"\n- x", Code: code},
			{Ended: RolledBack, Rollback: true, Promotion: "8a71e0c43f9d", Reached: 100, To: Version{Revision: "web-00001"}, From: Version{Revision: "web-00002"}, Started: at.Add(-2 * time.Hour)},
		},
	}
}

// sealed is the text of a record with the checksum that belongs to it.
func sealed(text string) string {
	above, _, _ := strings.Cut(text, "\nchecksum: ")
	return above + "\nchecksum: " + checksum([]byte(above+"\n")) + "\n"
}

func encoded(t *testing.T, r Record) []byte {
	t.Helper()
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRecordText shows the record as it stands in a file.
func TestRecordText(t *testing.T) {
	t.Parallel()
	want := `record: 1
promotion: 3f9c2d1e8a71
repository: https://github.com/acme/infra.git
branch: main
overlay: apps/web/overlays/production
step: "10"
percent: 10
reached: 10
tag: candidate
passed: 2026-11-22T10:01:00Z
commit: 74e5219b3179dd83185b313e8da45aa39506eafd
to: {revision: web-3f9c2d1e, images: ['ghcr.io/acme/web:v2'], init-images: ['ghcr.io/acme/migrate:v2']}
from: {revision: web-8a71e0c4, images: ['ghcr.io/acme/web:v1'], init-images: ['ghcr.io/acme/migrate:v1']}
base: 74e5219b3179dd83185b313e8da45aa39506eafd
started: 2026-11-22T10:00:00Z
run: https://github.com/acme/web/actions/runs/1
actor: octocat
code: acme/web@74e5219b3179dd83185b313e8da45aa39506eafd
code-at: 2026-11-22T09:50:00Z
source: {overlay: apps/web/overlays/staging, commit: 74e5219b3179dd83185b313e8da45aa39506eafd, revision: web-5d1c2b0f}
pull-request: 13
cut: true
past:
  - ended: rolled-back
    promotion: 8a71e0c43f9c
    reached: 50
    passed: 2026-11-22T09:30:00Z
    gate: slo
    to: {revision: web-8a71e0c4, images: ['ghcr.io/acme/web:v1']}
    base: 74e5219b3179dd83185b313e8da45aa39506eafd
    started: 2026-11-22T09:00:00Z
    actor: |-
      Ada: "#1"
      - x
    code: acme/web@74e5219b3179dd83185b313e8da45aa39506eafd
    code-at: 2026-11-22T09:50:00Z
  - ended: rolled-back
    rollback: true
    promotion: 8a71e0c43f9d
    reached: 100
    to: {revision: web-00001}
    from: {revision: web-00002}
    started: 2026-11-22T08:00:00Z
checksum: `
	got := string(encoded(t, someRecord()))
	if diff := cmp.Diff(want, got[:strings.LastIndex(got, ": ")+2]); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	again, err := Parse([]byte(got))
	if diff := cmp.Diff(someRecord(), again); err != nil || diff != "" {
		t.Errorf("read again: %v (-want +got):\n%s", err, diff)
	}
}

// TestRecordRefused changes a record as people and merges do.
func TestRecordRefused(t *testing.T) {
	t.Parallel()
	text := string(encoded(t, someRecord()))
	lines := strings.SplitAfter(text, "\n")
	const changed = "its checksum does not fit: lines were changed, lost or merged"
	with := func(old, now string) string { return sealed(strings.Replace(text, old, now, 1)) }
	for name, test := range map[string]struct{ text, want string }{
		"cut":           {strings.Join(lines[:8], ""), "its end is missing"},
		"line lost":     {strings.Join(append(lines[:9:9], lines[10:]...), ""), changed},
		"entry lost":    {strings.Join(append(lines[:22:22], lines[34:]...), ""), changed},
		"actor":         {strings.Replace(text, "octocat", "octopus", 1), changed},
		"unknown line":  {"zone: a\n" + text, changed},
		"conflict":      {"<<<<<<< HEAD\n" + text, changed},
		"text after it": {text + "more: 1\n", changed},
		"both sides":    {with("promotion: ", "promotion: 3f9c2d1e8a72\npromotion: "), `it is not written as knative-promote writes it: yaml: unmarshal errors: line 3: mapping key "promotion" already defined at line 2`},
		"no YAML":       {with("step: ", "step: - "), `it is not written as knative-promote writes it: yaml: line 6: block sequence entries are not allowed in this context`},
		"no mapping":    {sealed("- 1\n"), "it is not written as knative-promote writes it: its first line is no key"},
		"two":           {with("past:", "---\npast:"), "it is not written as knative-promote writes it: it has more than one YAML document"},
		"alias":         {with("to: {", "to: &a {"), "it is not written as knative-promote writes it: line 12: an anchor or an alias"},
		"newer":         {strings.Replace(text, "record: 1", "record: 2", 1), "its format is 2, and this version reads 1"},
		"newer alone":   {"record: 3\nsomething else\n", "its format is 3, and this version reads 1"},
		"something":     {"Ask Ada before you touch this.\n", "its end is missing"},
		"too long":      {strings.Repeat("# x\n", limit), fmt.Sprintf("it has %d bytes, and may have %d", 4*limit, limit)},
		"share":         {with("percent: 10", "percent: 11"), "percent: 11 does not belong to step 10"},
		"reached":       {with("reached: 10", "reached: 5"), "reached: 5 is no highest share of step 10"},
		"tag":           {with("tag: candidate", "tag: x y"), `tag: "x y" is no tag`},
		"id":            {with("3f9c2d1e8a71", "x"), `promotion: "x" is no id`},
		"step":          {with(`step: "10"`, "step: half"), `step: "half" is no step`},
		"no revision":   {with("web-3f9c2d1e", `""`), "to: a revision is missing"},
		"shell":         {with("to: {revision: web-3f9c2d1e", "to: {revision: web;id"), `revision: "web;id" is no name of one`},
		"shell before":  {with("from: {revision: ", "from: {revision: --to="), `revision: "--to=web-8a71e0c4" is no name of one`},
		"commit":        {with("commit: 74e5", "commit: main"), `commit: "main219b3179dd83185b313e8da45aa39506eafd" is no commit`},
		"base":          {with("base: 74e5", "base: main"), `base: "main219b3179dd83185b313e8da45aa39506eafd" is no commit`},
		"pull request":  {with("pull-request: 13", "pull-request: -1"), "pull-request: -1 is no number of one"},
		"line break":    {with("octocat", "octo\u2028cat"), "a value has a line break"},
		"many entries":  {with("past:\n", "past:\n"+strings.Repeat("  - {promotion: x}\n", 2*pastLimit)), "past: there are 22 entries, and may be 20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

// TestRecordIsBounded drops the oldest entries of a long record, and refuses one
// that is too long without them.
func TestRecordIsBounded(t *testing.T) {
	t.Parallel()
	r := someRecord()
	for range 30 {
		r = r.Follow(r)
	}
	if len(r.Past) != pastLimit+1 { // one of them failed
		t.Errorf("%d entries, want %d", len(r.Past), pastLimit+1)
	}
	long := strings.Repeat("x", 1000)
	for i := range r.Past {
		r.Past[i].To.Images = []string{long, long, long, long, long, long}
	}
	text := encoded(t, r)
	read, err := Parse(text)
	if err != nil || len(text) > limit || len(read.Past) != 4 || !cmp.Equal(read.Past, r.Past[:4]) || !read.Cut {
		t.Errorf("%d bytes with %d entries, %v: want the newest that fit into %d bytes", len(text), len(read.Past), err, limit)
	}
	for range 40 {
		r.To.Images = append(r.To.Images, long)
	}
	if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "the names of the images are too long for it") {
		t.Errorf("got error %v for images that are too long", err)
	}
}

// TestRecordOfHostileText has values in one comment line each, whatever they hold.
func TestRecordOfHostileText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a\nspec: {}", "a\r\nb", "a\u2028b", "a\u0085b", "a\x00b", "\xff\xfe", "# x", "'\"", "{", strings.Repeat("é", 600), "  ", "&a *b"} {
		r := someRecord()
		r.Actor, r.Run, r.Gate, r.Code.Commit = text, text, text, text
		out, err := r.Encode()
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		read, err := Parse(out)
		if err != nil || strings.ContainsAny(read.Actor, "\n\r\u0085\u2028") || len(read.Actor) > WordLimit {
			t.Errorf("%q is read again as %q, %v", text, read.Actor, err)
		}
	}
	r := someRecord()
	r.To.Images = []string{"a\nb\u2028c"}
	if out, err := r.Encode(); err == nil && bytes.Count(out, []byte("\n")) != bytes.Count(encoded(t, someRecord()), []byte("\n")) {
		t.Errorf("an image with line breaks makes more lines:\n%s", out)
	}
}

func TestRecordDisagreement(t *testing.T) {
	t.Parallel()
	const old, next = "web-8a71e0c4", "web-3f9c2d1e"
	for _, test := range []struct {
		step  string
		split knative.Split
		want  string
	}{
		{"candidate", knative.Split{Stable: old, Candidate: next}, ""},
		{"10", knative.Split{Stable: old, Candidate: next, Percent: 10}, ""},
		{"10", knative.Split{Stable: old, Candidate: next, Percent: 20}, "says that web-8a71e0c4 has 90 % of the traffic, and web-3f9c2d1e as candidate 10 %"},
		{"10", knative.Split{Stable: old}, "says that web-8a71e0c4 has 90 % of the traffic, and web-3f9c2d1e as candidate 10 %"},
		{"100", knative.Split{Stable: next, Previous: old}, ""},
		{"100", knative.Split{Stable: old}, "says that web-3f9c2d1e has all traffic"},
		{"restore", knative.Split{Stable: old}, ""},
		{"restore", knative.Split{Stable: next}, "says that web-8a71e0c4 has all traffic"},
		{"rollback", knative.Split{Stable: next}, ""},
		{"rollback", knative.Split{Stable: next, Candidate: old}, "says that web-3f9c2d1e has all traffic"},
	} {
		r := someRecord()
		r.Step, r.Percent = test.step, ShareOf(test.step)
		if got := r.Disagreement(somePlace, test.split); got != test.want {
			t.Errorf("%s beside %+v: %q, want %q", test.step, test.split, got, test.want)
		}
	}
}

// TestRecordElsewhere has a record tell nothing where it came with a copy, however the
// repository's address is written.
func TestRecordElsewhere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ repository, branch, overlay, want string }{
		{"https://github.com/acme/infra.git", "main", somePlace.Overlay, ""},
		{"git@github.com:acme/infra", "main", somePlace.Overlay, ""},
		{"ssh://git@GitHub.com:22/acme/infra.git", "main", somePlace.Overlay, ""},
		{"https://github.com/acme/infra.git", "main", "apps/web/overlays/staging", "is of the overlay apps/web/overlays/production"},
		{"https://github.com/acme/infra.git", "staging", somePlace.Overlay, "is of the branch main, and this is staging"},
		{"git@github.com:acme/infra-staging.git", "main", somePlace.Overlay, "is of the repository https://github.com/acme/infra.git, and this is git@github.com:acme/infra-staging.git"},
		{"https://x:y@example.com/acme/infra", "main", somePlace.Overlay, "is of the repository https://github.com/acme/infra.git, and this is https://example.com/acme/infra"},
		{"", "main", somePlace.Overlay, "is of the repository https://github.com/acme/infra.git, and this is (none)"},
	} {
		here := Place{test.repository, test.branch, test.overlay}
		r := someRecord()
		if got := r.Disagreement(here, knative.Split{Stable: "web-8a71e0c4", Candidate: "web-3f9c2d1e", Percent: 10}); got != test.want {
			t.Errorf("in %+v: %q, want %q", test, got, test.want)
		}
		if got := r.Of(here).Exists(); got != (test.want == "") {
			t.Errorf("in %+v the record is of there: %t", test, got)
		}
	}
}
