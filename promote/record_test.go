package promote

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

// someRecord is a record with all that there can be.
func someRecord() Record {
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	return Record{
		Format: 1, Promotion: "3f9c2d1e8a71", Overlay: "apps/web/overlays/production", Step: "10", Percent: 10, Passed: at.Add(time.Minute), Commit: someCommit,
		To:   Version{Revision: "web-3f9c2d1e", Images: []string{"ghcr.io/acme/web:v2"}, InitImages: []string{"ghcr.io/acme/migrate:v2"}},
		From: Version{Revision: "web-8a71e0c4", Images: []string{"ghcr.io/acme/web:v1"}, InitImages: []string{"ghcr.io/acme/migrate:v1"}},
		Base: someCommit, Started: at, Run: "https://github.com/acme/web/actions/runs/1", Actor: "octocat", Code: "acme/web@" + someCommit,
		Source: Source{Overlay: "apps/web/overlays/staging", Commit: someCommit, Revision: "web-5d1c2b0f"}, Pull: 13,
		Past: []Entry{
			{Ended: Promoted, Promotion: "8a71e0c43f9c", To: Version{Revision: "web-8a71e0c4", Images: []string{"ghcr.io/acme/web:v1"}}, Base: someCommit, Started: at.Add(-time.Hour), Actor: "Ada: \"#1\"\n- x"},
			{Ended: RolledBack, Rollback: true, Promotion: "8a71e0c43f9d", To: Version{Revision: "web-00001"}, From: Version{Revision: "web-00002"}, Started: at.Add(-2 * time.Hour)},
		},
	}
}

func encoded(t *testing.T, r Record) []byte {
	t.Helper()
	text, err := r.encode()
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
overlay: apps/web/overlays/production
step: "10"
percent: 10
passed: 2026-11-22T10:01:00Z
commit: 74e5219b3179dd83185b313e8da45aa39506eafd
to: {revision: web-3f9c2d1e, images: ['ghcr.io/acme/web:v2'], init-images: ['ghcr.io/acme/migrate:v2']}
from: {revision: web-8a71e0c4, images: ['ghcr.io/acme/web:v1'], init-images: ['ghcr.io/acme/migrate:v1']}
base: 74e5219b3179dd83185b313e8da45aa39506eafd
started: 2026-11-22T10:00:00Z
run: https://github.com/acme/web/actions/runs/1
actor: octocat
code: acme/web@74e5219b3179dd83185b313e8da45aa39506eafd
source: {overlay: apps/web/overlays/staging, commit: 74e5219b3179dd83185b313e8da45aa39506eafd, revision: web-5d1c2b0f}
pull-request: 13
past:
  - {ended: promoted, promotion: 8a71e0c43f9c, to: {revision: web-8a71e0c4, images: ['ghcr.io/acme/web:v1']}, base: 74e5219b3179dd83185b313e8da45aa39506eafd, started: '2026-11-22T09:00:00Z', actor: "Ada: \"#1\"\n- x"}
  - {ended: rolled-back, rollback: true, promotion: 8a71e0c43f9d, to: {revision: web-00001}, from: {revision: web-00002}, started: '2026-11-22T08:00:00Z'}
checksum: `
	got := string(encoded(t, someRecord()))
	if diff := cmp.Diff(want, got[:strings.LastIndex(got, ": ")+2]); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	again, err := parseRecord([]byte(got))
	if diff := cmp.Diff(someRecord(), again); err != nil || diff != "" {
		t.Errorf("read again: %v (-want +got):\n%s", err, diff)
	}
}

// TestRecordRefused changes a record as people and merges do.
func TestRecordRefused(t *testing.T) {
	t.Parallel()
	text := string(encoded(t, someRecord()))
	lines := strings.SplitAfter(text, "\n")
	for name, test := range map[string]struct{ text, want string }{
		"cut":           {strings.Join(lines[:8], ""), "its end is missing"},
		"line lost":     {strings.Join(append(lines[:9:9], lines[10:]...), ""), "its checksum does not fit: lines were changed, lost or merged"},
		"entry lost":    {strings.Join(append(lines[:17:17], lines[18:]...), ""), "its checksum does not fit: lines were changed, lost or merged"},
		"share":         {strings.Replace(text, "percent: 10", "percent: 11", 1), "percent: 11 does not belong to step 10"},
		"actor":         {strings.Replace(text, "octocat", "octopus", 1), "its checksum does not fit: lines were changed, lost or merged"},
		"both sides":    {lines[0] + lines[1] + "promotion: 3f9c2d1e8a72\n" + strings.Join(lines[2:], ""), `it is not written as this version writes it: yaml: unmarshal errors: line 3: mapping key "promotion" already defined at line 2`},
		"conflict":      {"<<<<<<< HEAD\n" + text, "it is not written as this version writes it: yaml: line 2: mapping values are not allowed in this context"},
		"field":         {"weight: 3\n" + text, "it is not written as this version writes it: yaml: unmarshal errors: line 1: field weight not found in type promote.Record"},
		"newer":         {strings.Replace(text, "record: 1", "record: 2", 1), "its format is 2, and this version reads 1"},
		"something":     {"Ask Ada before you touch this.\n", "its end is missing"},
		"too long":      {strings.Repeat("# x\n", recordLimit), fmt.Sprintf("it has %d bytes, and may have %d", 4*recordLimit, recordLimit)},
		"id":            {strings.Replace(text, "3f9c2d1e8a71", "x", 1), `promotion: "x" is no id`},
		"step":          {strings.Replace(text, `step: "10"`, "step: half", 1), `step: "half" is no step`},
		"no revision":   {strings.Replace(text, "web-3f9c2d1e", `""`, 1), "to: a revision is missing"},
		"commit":        {strings.Replace(text, "commit: 74e5", "commit: main", 1), `commit: "main219b3179dd83185b313e8da45aa39506eafd" is no commit`},
		"base":          {strings.Replace(text, "base: 74e5", "base: main", 1), `base: "main219b3179dd83185b313e8da45aa39506eafd" is no commit`},
		"pull request":  {strings.Replace(text, "pull-request: 13", "pull-request: -1", 1), "pull-request: -1 is no number of one"},
		"text after it": {text + "more: 1\n", "its checksum does not fit: lines were changed, lost or merged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseRecord([]byte(test.text))
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
		r.Past = r.after()
	}
	if len(r.Past) != pastLimit {
		t.Errorf("%d entries, want %d", len(r.Past), pastLimit)
	}
	long := strings.Repeat("x", 1000)
	for i := range r.Past {
		r.Past[i].To.Images = []string{long, long, long, long, long, long}
	}
	text := encoded(t, r)
	read, err := parseRecord(text)
	if err != nil || len(text) > recordLimit || len(read.Past) != 5 || !cmp.Equal(read.Past, r.Past[:5]) {
		t.Errorf("%d bytes with %d entries, %v: want the newest that fit into %d bytes", len(text), len(read.Past), err, recordLimit)
	}
	for range 40 {
		r.To.Images = append(r.To.Images, long)
	}
	if _, err := r.encode(); err == nil || !strings.Contains(err.Error(), "the names of the images are too long for it") {
		t.Errorf("got error %v for images that are too long", err)
	}
}

// TestRecordOfHostileText has values in one comment line each, whatever they hold.
func TestRecordOfHostileText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a\nspec: {}", "a\r\nb", "a\u2028b", "a\u0085b", "a\x00b", "\xff\xfe", "# x", "'\"", "{", strings.Repeat("é", 600), "  ", "&a *b"} {
		r := someRecord()
		r.Actor, r.Run, r.Code = text, text, text
		out, err := r.encode()
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		read, err := parseRecord(out)
		if err != nil || strings.ContainsAny(read.Actor, "\n\r\u0085\u2028") || len(read.Actor) > wordLimit {
			t.Errorf("%q is read again as %q, %v", text, read.Actor, err)
		}
	}
	r := someRecord()
	r.To.Images = []string{"a\nb\u2028c"}
	if out, err := r.encode(); err == nil && bytes.Count(out, []byte("\n")) != 20 {
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
		r.Step, r.Percent = test.step, shareOf(test.step)
		if got := r.disagreement(r.Overlay, test.split); got != test.want {
			t.Errorf("%s beside %+v: %q, want %q", test.step, test.split, got, test.want)
		}
	}
	if got := someRecord().disagreement("elsewhere", knative.Split{}); got != "is of the overlay apps/web/overlays/production" {
		t.Errorf("in another overlay: %q", got)
	}
}

func TestNewerRun(t *testing.T) {
	t.Parallel()
	const server = "https://github.com/acme/"
	for _, test := range []struct {
		run, than string
		want      bool
	}{
		{server + "web/actions/runs/10", server + "web/actions/runs/9", true},
		{server + "infra/actions/runs/10", server + "web/actions/runs/9", true},
		{server + "web/actions/runs/9", server + "web/actions/runs/10", false},
		{server + "web/actions/runs/9", server + "web/actions/runs/9", false},
		{"https://elsewhere.example.com/acme/web/actions/runs/10", server + "web/actions/runs/9", false},
		{"", server + "web/actions/runs/9", false},
		{server + "web/actions/runs/10", "", false},
		{server + "web/actions/runs/99999999999999999999", server + "web/actions/runs/9", false},
	} {
		if got := newerRun(test.run, test.than); got != test.want {
			t.Errorf("newerRun(%q, %q) = %t", test.run, test.than, got)
		}
	}
}

// FuzzRecord reads anything, and what it takes it would write just so.
func FuzzRecord(f *testing.F) {
	text, err := someRecord().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("record: 1\nchecksum: 0\n"))
	f.Add(bytes.ReplaceAll(text, []byte("images"), []byte("&a images")))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseRecord(text)
		if err != nil || len(text) == 0 {
			return
		}
		again, err := r.encode()
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q is read, and written as %q, %v", text, again, err)
		}
		patch := append([]byte("# heading\n"), bytes.ReplaceAll(append([]byte("# "), bytes.TrimSuffix(text, []byte("\n"))...), []byte("\n"), []byte("\n# "))...)
		if bytes.ContainsAny(patch, "\r\u0085\u2028\u2029") {
			t.Errorf("%q ends a comment", text)
		}
	})
}
