package gitops

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/store"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		subject  string
		trailers []Trailer
		want     string
	}{
		"subject alone": {"web prod: v2", nil, "web prod: v2\n"},
		"all parts":     {"s", []Trailer{{"Promotion", "p1"}, {"Promotion-Step", "10 %"}}, "s\n\nPromotion: p1\nPromotion-Step: 10 %\n"},
		"forged lines":  {"s\n\nPromotion: forged", []Trailer{{"Promotion-Reason", "because\nPromotion: forged\r\n\r\nx"}}, "s Promotion: forged\n\nPromotion-Reason: because Promotion: forged x\n"},
		"control":       {"a\x1b[31m\x00b\u2028c", nil, "a [31m b c\n"},
		"not UTF-8":     {"a\xffb", nil, "a\uFFFDb\n"},
		"blanks":        {"\n s \n\n", nil, "s\n"},
		"empty value":   {"s", []Trailer{{"Promotion-From", ""}}, "s\n\nPromotion-From:\n"},
		"long":          {strings.Repeat("é", 200), nil, strings.Repeat("é", 125) + "…\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := newMessage(test.subject, test.trailers)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, m.String()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessageErrors(t *testing.T) {
	t.Parallel()
	if _, err := newMessage(" \n", nil); err == nil || err.Error() != "commit message: the subject is empty" {
		t.Errorf("error %v", err)
	}
	_, err := newMessage("s", []Trailer{{"Promotion:\nX", "v"}})
	if want := `commit message: trailer key "Promotion: X": expected letters, digits and dashes`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestLongMessage cuts each part.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Long: é\n\n", 10_000)
	m, err := newMessage(long, []Trailer{{"Promotion-Reason", long}})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(m.String()); got > subjectLimit+valueLimit+100 {
		t.Errorf("%d bytes", got)
	}
}

// TestSubject reads messages that other tools wrote.
func TestSubject(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"empty":              {"", ""},
		"no end":             {"s", "s"},
		"subject of 2 lines": {"a\nb\n\nbody", "a b"},
		"CRLF":               {"s\r\n\r\nbody\r\n\r\nKey: v\r\n", "s"},
		"many blank lines":   {"\n\ns\n\n\n\nbody\n\n\nKey: v\n\n", "s"},
		"control":            {"a\x1b[31m\x00b\u2028c", "a [31m b c"},
		"long":               {strings.Repeat("é", 1<<20), strings.Repeat("é", 125) + "…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := subjectOf([]byte(test[0])); got != test[1] {
				t.Errorf("subject %q, want %q", got, test[1])
			}
		})
	}
}

// TestHostileCommit reads commits that take for ever where each of their lines
// is added to the text of the lines before: what is read of them is bounded.
func TestHostileCommit(t *testing.T) {
	const header = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" +
		"parent 74e5219b3179dd83185b313e8da45aa39506eafd\n" +
		"author Ada <ada@example.com> 1700000000 +0000\ncommitter Bot <bot@example.com> 1800000000 +0000\n"
	lines := strings.Repeat(" x\n", 1<<20/3)
	for name, raw := range map[string]string{
		"message":   header + "\nFix a typo\n\nKey: value\n" + lines,
		"signature": header + "gpgsig -----BEGIN PGP SIGNATURE-----\n" + lines + "\nFix a typo\n",
		"merge tag": header + "mergetag object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" + lines + "\nFix a typo\n",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := parseCommit(plumbing.ZeroHash, []byte(raw))
			runtime.ReadMemStats(&after)
			want := Commit{
				Hash: plumbing.ZeroHash.String(), Parents: []string{"74e5219b3179dd83185b313e8da45aa39506eafd"},
				Author: Person{"Ada", "ada@example.com"}, Time: time.Unix(1800000000, 0), Subject: "Fix a typo",
			}
			if diff := cmp.Diff(want, got.Commit); err != nil || diff != "" {
				t.Errorf("commit (-want +got): %v\n%s", err, diff)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
				t.Errorf("reading %d KiB took %d KiB of memory", len(raw)>>10, used>>10)
			}
		})
	}
}

// FuzzMessage: whatever the text, the subject that is written is the one that is
// read, and Git sees the trailers that were given and no others.
func FuzzMessage(f *testing.F) {
	f.Add("subject", "value")
	f.Add("s\nPromotion: x", "a\n\nPromotion: forged")
	f.Add("Key: value", "")
	f.Add("\x00", "\r\n\r\r\n\u0085\u2028x\u200b")
	f.Fuzz(func(t *testing.T, subject, value string) {
		for _, trailers := range [][]Trailer{nil, {{"Promotion", value}, {"Promotion-Step", "10"}}} {
			m, err := newMessage(subject, trailers)
			if err != nil {
				continue
			}
			text := m.String()
			if got := subjectOf([]byte(text)); got != m.subject {
				t.Errorf("subject %q, want %q", got, m.subject)
			}
			seen := 0
			for line := range strings.SplitSeq(text, "\n") {
				if trailerLine.MatchString(line) && line != m.subject {
					seen++
				}
			}
			if seen > len(trailers) {
				t.Errorf("%d lines read like a trailer, want %d:\n%s", seen, len(trailers), text)
			}
		}
	})
}

// FuzzParseTree: a tree that can be read is written as it was.
func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x0001234567890123456789"))
	f.Add([]byte("40000 a\x000123456789012345678940000 b\x0001234567890123456789"))
	f.Add([]byte("100644 \x0001234567890123456789"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsed, err := store.ParseTree(raw)
		if err != nil {
			return
		}
		if diff := cmp.Diff(string(raw), string(parsed.Encode())); diff != "" {
			t.Errorf("written again (-want +got):\n%s", diff)
		}
	})
}
