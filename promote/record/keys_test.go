package record

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withUnknown is the text of a record with keys that another version has written: a
// few of the record's, and one of each entry's, the first of one and the last of the
// other.
func withUnknown(text string) string {
	text = strings.Replace(text, "promotion: ", "zones: {a: 1,\n  b:   0x10} # two\npromotion: ", 1)
	text = strings.Replace(text, "past:\n", "note: |\n  two\n\n    lines\nlist:\n- 'a'\n- \"b\\x41\"\npast:\n", 1)
	text = strings.Replace(text, "  - ended: ", "  - zone:   eu # there\n    ended: ", 1)
	text = strings.Replace(text, "checksum: ", "    note: |-\n      of\n\n      old\nlast: [ ]\nchecksum: ", 1)
	return sealed(text)
}

// TestUnknownKeys has keys that only another version knows read, and kept byte for
// byte, with what they are of.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	r, err := Parse([]byte(withUnknown(string(encoded(t, someRecord())))))
	if err != nil {
		t.Fatal(err)
	}
	const ofRecord = "zones: {a: 1,\n  b:   0x10} # two\nnote: |\n  two\n\n    lines\nlist:\n- 'a'\n- \"b\\x41\"\nlast: [ ]\n"
	want := someRecord()
	want.Unknown = ofRecord
	want.Past[0].Unknown, want.Past[1].Unknown = "zone:   eu # there\n", "note: |-\n  of\n\n  old\n"
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("read (-want +got):\n%s", diff)
	}
	text := string(encoded(t, r))
	if again, err := Parse([]byte(text)); err != nil || !cmp.Equal(want, again) {
		t.Errorf("written and read again: %v\n%s", err, cmp.Diff(want, again))
	}
	if !strings.Contains(text, "\ncut: true\n"+ofRecord+"past:\n") || !strings.Contains(text, "\n    zone:   eu # there\n") || !strings.Contains(text, "\n    note: |-\n      of\n\n      old\nchecksum: ") {
		t.Errorf("written as\n%s", text)
	}
	next := Record{Promotion: "3f9c2d1e8a72", Step: "candidate", To: Version{Revision: "web-5d1c2b0f"}}.Follow(r)
	if next.Unknown != "" || next.Past[0].Unknown != ofRecord {
		t.Errorf("the next promotion has %q, and what it follows %q: they are of the one that they were written for", next.Unknown, next.Past[0].Unknown)
	}
	if again, err := Parse(encoded(t, next)); err != nil || again.Past[0].Unknown != ofRecord || again.Past[1].Unknown != "zone:   eu # there\n" {
		t.Errorf("the next promotion is read as %+v, %v", again, err)
	}
	if further := (Record{Promotion: "3f9c2d1e8a71"}).Continues(r); further.Unknown != ofRecord {
		t.Errorf("a further step has %q", further.Unknown)
	}
}

// TestUnknownKeysInOneLine has another version write its entries in another way.
func TestUnknownKeysInOneLine(t *testing.T) {
	t.Parallel()
	r := someRecord()
	r.Past = nil
	text := strings.Replace(string(encoded(t, r)), "checksum: ", "past:\n  - {zone: 'eu', promotion: 8a71e0c43f9c, ended: promoted, reached: 100, to: {revision: web-1, digest: x}, started: 2026-11-22T09:00:00Z}\nchecksum: ", 1)
	read, err := Parse([]byte(sealed(text)))
	if err != nil || read.Past[0].Unknown != "zone: 'eu'\n" || read.Past[0].To.Revision != "web-1" {
		t.Fatalf("%+v, %v", read.Past, err)
	}
	if again, err := Parse(encoded(t, read)); err != nil || !cmp.Equal(read, again) {
		t.Errorf("written and read again: %v\n%s", err, cmp.Diff(read, again))
	}
}

// TestRecordLines has no line that is longer than those who check YAML files permit.
func TestRecordLines(t *testing.T) {
	t.Parallel()
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	r := someRecord()
	r.To.Images = []string{"europe-docker.pkg.dev/acme/containers/product-import:v2.0.0" + digest, "ghcr.io/acme/sidecar:v2.0.0" + digest}
	r.Run = "https://github.example.com/acme-engineering/product-import-service/actions/runs/12345678901234567890"
	r.Source.With = []Source{r.Source, r.Source}
	for range 12 {
		r = r.Follow(r)
	}
	text := string(encoded(t, r))
	for line := range strings.Lines(text) {
		if len("# "+line) > 200 {
			t.Errorf("%d characters: %s", len("# "+line), line)
		}
	}
	if again, err := Parse([]byte(text)); err != nil || !cmp.Equal(r, again) {
		t.Errorf("read again: %v\n%s", err, cmp.Diff(r, again))
	}
}

// TestRecordDocument holds docs/record.md to what is written: its example is a record
// as it stands in a file, and it has a row for each key.
func TestRecordDocument(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "# Written by knative-promote: the revision's name and the traffic.\n")
	example, _, _ = strings.Cut(example, "apiVersion: ")
	example = strings.ReplaceAll("\n"+example, "\n# ", "\n")[1:]
	r, err := Parse([]byte(example))
	if err != nil {
		t.Fatalf("the example: %v: expected %s", err, sealed(example)[strings.LastIndex(sealed(example), "checksum: "):])
	}
	if diff := cmp.Diff(string(encoded(t, r)), example); diff != "" || r.Unknown != "" {
		t.Errorf("the example (-as it is written +there), with the unknown keys %q:\n%s", r.Unknown, diff)
	}
	var rows string
	for line := range strings.Lines(string(page)) {
		if cell, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | "); row {
			rows += cell
		}
	}
	keys := []string{"past", "checksum"}
	for _, of := range []reflect.Type{reflect.TypeFor[Record](), reflect.TypeFor[Code]()} {
		for i := range of.NumField() {
			key, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
			keys = append(keys, strings.Trim(key, "-"))
		}
	}
	for _, key := range keys {
		if key != "" && !strings.Contains(rows, "`"+key+"`") {
			t.Errorf("no row for %s", key)
		}
	}
}

// FuzzRecord reads anything, and what it takes it writes so that the same is read
// again, with the keys that it does not know.
func FuzzRecord(f *testing.F) {
	text, err := someRecord().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("record: 1\nchecksum: 0\n"))
	f.Add(bytes.ReplaceAll(text, []byte("images"), []byte("&a images")))
	f.Add([]byte(withUnknown(string(text))))
	const head = "record: 1\npromotion: 3f9c2d1e8a71\noverlay: a\nstep: \"100\"\npercent: 100\nreached: 100\nto: {revision: w}\nstarted: 2026-11-22T10:00:00Z\n"
	for _, odd := range []string{
		"past:\n  -\n", "past: []\n", "past:\n", "past:\n- ended: promoted\n  a: 1\n", "past:\n    -   a: 1\n        ended: promoted\n",
		"past:\n  - !!map\n   a: 1\n   ended: promoted\n", "past:\n  # there\n  - a: 1\n  # here\n  - b: 2\n", "past:\n  - ? a\n    : 1\n    ended: promoted\n",
		"past:\n  - {a: 1, ended: promoted}\nb: 1\n", "past:\n  - a: \"x\n y\"\n    b: |2\n        z\n    c: >+\n      w\n\n", "a: \"x\ny\"\n", "a:\n  b\n  c\n", "a:\n", "? a\n: 1\n",
		"a: 1\n...\n", "a: 1\n%YAML 1.2\n", "<<: {actor: b}\n", "\"past\": [{ended: promoted, a: 1}]\n", "a: !!str 1\n", "a: | # x\n  b\n# c\n", "true: 1\n1: 2\n", "[a, b]: 1\n",
	} {
		f.Add([]byte(head + odd + checksumKey))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = []byte(sealed(string(text)))
		r, err := Parse(text)
		if err != nil {
			return
		}
		out, err := r.Encode()
		if err != nil {
			return // too long with all its lines
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("%q is read, and written as %q, which is not: %v", text, out, err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, out) {
			t.Errorf("%q is written as %q, and then as %q, %v", text, out, twice, err)
		}
		if again.Unknown != r.Unknown {
			t.Errorf("%q: of %q becomes %q", text, r.Unknown, again.Unknown)
		}
		for i, e := range again.Past {
			if e.Unknown != r.Past[i].Unknown {
				t.Errorf("%q: of %q becomes %q", text, r.Past[i].Unknown, e.Unknown)
			}
		}
	})
}
