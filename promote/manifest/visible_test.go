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

// TestHostsAreShown shows where an address leads, whatever its host looks like, and hides what looks so in other places.
func TestHostsAreShown(t *testing.T) {
	t.Parallel()
	const key = "sk-Eve-collects-all-of-it"
	for text, shown := range map[string]bool{
		"wget -qO- https://" + key + ".example.com/x > /data":         true,
		"https://a." + key + ".example.com":                           true,
		"https://ada:x@" + key + ".example.com:8443/":                 true,
		key + ".example.com":                                          true,
		"the key is " + key + ". Keep it.":                            false,
		"https://" + key + "@example.com/":                            false,
		"https://" + key + ":x@example.com/":                          false,
		"https://example.com/" + key:                                  false,
		"https://example.com/?of=" + key:                              false,
		key + " https://example.com":                                  false,
		"https://example.com/ AKIAIOSFODNN7EXAMPLE " + key:            false,
		`{"url":"https://example.com","by":"` + key + `"}`:            false,
		"https://AKIAIOSFODNN7EXAMPLE.example.com/" + key + "?x=a://": false,
	} {
		got := Compare(nil, []byte("kind: A\nmetadata: {name: a}\nspec: {note: '"+text+"'}\n")).String()
		if strings.Contains(got, key) != shown {
			t.Errorf("%s: expected it shown %t:\n%s", text, shown, got)
		}
	}
}
