package oneline_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acme/knative-promote/internal/oneline"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"no such revision", "no such revision"},
		{" two\r\n\tlines\n", "two lines"},
		{"a\x1b[31mb\x00c", "a [31mb c"},      // a terminal's colour
		{"a\u2028b\u0085c\u00a0d", "a b c d"}, // line breaks and blanks that are not ASCII
		{"user\u202egnp.exe", "user gnp.exe"}, // reverses what follows
		{"a\xffb", "a\uFFFDb"},                // not UTF-8
		{"äöü 日本", "äöü 日本"},                  //
		{"0123456789 123456789", "0123456789 123456789"},
		{"0123456789 123456789 ", "0123456789 123456789"},
		{"0123456789 1234567890", "0123456789…"}, // half a word may be half a secret
		{"012345678901234567890", "…"},
		{"日本日本日本日", "日本日本日本…"},
		{"0123456789 12345678 90", "0123456789 12345678…"},
		{"0123456789 12345678é", "0123456789 12345678…"},
		{"0123456789 1234567é0", "0123456789 1234567é…"},
	} {
		if got := oneline.Of(test.text, 20); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
}

// FuzzOf: whatever the text, the result is short, is one line, and is made of
// itself again.
func FuzzOf(f *testing.F) {
	f.Add("a\x1b[31m\xff\u2028b", 3)
	f.Add(strings.Repeat("é ", 40), 11)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit > 1000 {
			return
		}
		got := oneline.Of(text, limit)
		if len(got) > limit+len("…") || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x00\x1b\u0085\u2028\u202e") {
			t.Errorf("%q becomes %q with a limit of %d", text, got, limit)
		}
		if kept, cut := strings.CutSuffix(got, "…"); cut && !strings.HasSuffix(text, "…") {
			if rest := strings.TrimPrefix(oneline.Of(text, len(text)*3), kept); rest != "" && kept != "" && isWord(kept[len(kept)-1]) && isWord(rest[0]) {
				t.Errorf("%q becomes %q with a limit of %d: a word is cut in two", text, got, limit)
			}
		}
		if again := oneline.Of(got, limit); again != got {
			t.Errorf("%q becomes %q with a limit of %d, and that becomes %q", text, got, limit, again)
		}
	})
}

func isWord(b byte) bool { return ' ' < b && b < utf8.RuneSelf }
