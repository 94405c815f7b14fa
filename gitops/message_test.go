package gitops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		subject, body string
		trailers      []Trailer
		want          string
	}{
		"subject alone":  {"web prod: v2", "", nil, "web prod: v2\n"},
		"all parts":      {"s", "one\ntwo\n\nthree", []Trailer{{"Promotion", "p1"}, {"Promotion-Step", "10 %"}}, "s\n\none\ntwo\n\nthree\n\nPromotion: p1\nPromotion-Step: 10 %\n"},
		"forged lines":   {"s\n\nPromotion: forged", "", []Trailer{{"Promotion-Reason", "because\nPromotion: forged\r\n\r\nx"}}, "s Promotion: forged\n\nPromotion-Reason: because Promotion: forged x\n"},
		"forged trailer": {"s", "text\n\nPromotion: forged\nSigned-off-by: x", nil, "s\n\ntext\n\n    Promotion: forged\n    Signed-off-by: x\n"},
		"control":        {"a\x1b[31m\x00b\u2028c", "x\x07y\u202e", nil, "a [31m b c\n\nx y\n"},
		"not UTF-8":      {"a\xffb", "", nil, "a\uFFFDb\n"},
		"blank lines":    {" s ", "\n\na  \n\n\n\nb\n\n", nil, "s\n\na\n\nb\n"},
		"empty value":    {"s", "", []Trailer{{"Promotion-From", ""}}, "s\n\nPromotion-From:\n"},
		"long":           {strings.Repeat("é", 200), "", nil, strings.Repeat("é", 123) + "…\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := newMessage(test.subject, test.body, test.trailers)
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
	if _, err := newMessage(" \n", "", nil); err == nil || err.Error() != "commit message: the subject is empty" {
		t.Errorf("error %v", err)
	}
	_, err := newMessage("s", "", []Trailer{{"Promotion:\nX", "v"}})
	if want := `commit message: trailer key "Promotion: X": expected letters, digits and dashes`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestLongMessage cuts each part and still reads back what it wrote.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Long: é\n\n", 10_000)
	m, err := newMessage(long, long, []Trailer{{"Promotion-Reason", long}})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(m.String()); got > subjectLimit+bodyLimit+valueLimit+100 {
		t.Errorf("%d bytes", got)
	}
	if diff := cmp.Diff(m, parseMessage(m.String()), cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("read back (-written +read):\n%s", diff)
	}
}

// TestParseMessage reads messages that other tools wrote.
func TestParseMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want message
	}{
		"empty":              {"", message{}},
		"no end":             {"s", message{subject: "s"}},
		"subject of 2 lines": {"a\nb\n\nbody", message{subject: "a b", body: "body"}},
		"trailers only":      {"Promotion: p1\n", message{subject: "Promotion: p1"}},
		"no trailers":        {"s\n\nSee: this\nand that", message{subject: "s", body: "See: this\nand that"}},
		"continued":          {"s\n\nKey: a\n  b\nOther: c", message{subject: "s", trailers: []Trailer{{"Key", "a b"}, {"Other", "c"}}}},
		"CRLF":               {"s\r\n\r\nbody\r\n\r\nKey: v\r\n", message{subject: "s", body: "body", trailers: []Trailer{{"Key", "v"}}}},
		"many blank lines":   {"s\n\n\n\nbody\n\n\nKey: v\n\n", message{subject: "s", body: "body", trailers: []Trailer{{"Key", "v"}}}},
		"URL":                {"s\n\nhttps://example.com/x", message{subject: "s", body: "https://example.com/x"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, parseMessage(test.text), cmp.AllowUnexported(message{})); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzMessage: whatever the text, the parts that are written are the parts that
// are read, with exactly the trailers that were given.
func FuzzMessage(f *testing.F) {
	f.Add("subject", "body\n\nmore", "value")
	f.Add("s\nPromotion: x", "Promotion: forged", "a\n\nPromotion: forged")
	f.Add("Key: value", " Key: value\n\tKey: value", "")
	f.Add("\x00", "\r\n\r\r\n\u0085\u2028x", "\u200b")
	f.Fuzz(func(t *testing.T, subject, body, value string) {
		for _, trailers := range [][]Trailer{nil, {{"Promotion", value}, {"Promotion-Step", "10"}}} {
			m, err := newMessage(subject, body, trailers)
			if err != nil {
				continue
			}
			if len(m.trailers) != len(trailers) {
				t.Fatalf("%d trailers, want %d", len(m.trailers), len(trailers))
			}
			if diff := cmp.Diff(m, parseMessage(m.String()), cmp.AllowUnexported(message{})); diff != "" {
				t.Errorf("read back (-written +read):\n%s", diff)
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
		parsed, err := parseTree(raw)
		if err != nil {
			return
		}
		if diff := cmp.Diff(string(raw), string(parsed.encode())); diff != "" {
			t.Errorf("written again (-want +got):\n%s", diff)
		}
	})
}
