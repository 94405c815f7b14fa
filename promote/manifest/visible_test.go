package manifest

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain ä 漢 🚀":                     "plain ä 漢 🚀",
		"a\nb\tc\rd":                      `a\nb\tc\rd`,
		"\x1b[31m":                        `\u001b[31m`,
		"\u202ea\u2066\u200b\ufeff\u00a0": `\u202ea\u2066\u200b\ufeff\u00a0`,
		"\xff\u3164\U000e0041\ufe0f":      `\xff\u3164\U000e0041\ufe0f`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("Visible(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestShortenKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	for limit := 3; limit < 20; limit++ {
		got := Shorten("äöü漢字🚀 and more", limit)
		if len(got) > limit || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("Shorten(%d) = %q", limit, got)
		}
	}
}
