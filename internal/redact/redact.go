// Package redact keeps secrets that are known out of text, in whatever form they come back from outside.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Shown is what stands where a secret was.
const Shown = "***"

// shortest is how long a form is at least, in bytes: hiding shorter ones would ruin every text.
const shortest = 4

// Secrets are texts that nobody may see. The zero value has none. Its methods may be called at once.
type Secrets struct {
	mu    sync.Mutex
	forms []string // longest first
}

// Of are Secrets that hide these.
func Of(secrets ...string) *Secrets {
	s := &Secrets{}
	s.Add(secrets...)
	return s
}

// Add hides more of them from here on. It returns the forms that were not hidden before.
func (s *Secrets) Add(secrets ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := slices.DeleteFunc(forms(secrets), func(form string) bool { return slices.Contains(s.forms, form) })
	s.forms = append(s.forms, added...)
	slices.SortFunc(s.forms, func(a, b string) int { return len(b) - len(a) })
	return added
}

// Hide is the text with [Shown] in the place of every secret. Who cuts a text hides what is in it before.
func (s *Secrets) Hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, form, Shown)
	}
	return text
}

// forms are the texts that give a secret away: itself, each line of it, its escaped forms, and what every base64 text that
// holds it contains.
func forms(secrets []string) []string {
	var forms []string
	for _, secret := range secrets {
		forms = append(forms, secret, strings.TrimSpace(secret))
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "-----") {
				continue
			}
			forms = append(forms, line, url.QueryEscape(line), url.PathEscape(line), url.UserPassword("", line).String()[1:])
			forms = append(forms, quoted(line)...)
			forms = append(forms, base64Forms(line)...)
		}
	}
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return len(form) < shortest })
}

// quoted is the text as it is between quotes, with and without the escapes for HTML that Go's JSON has.
func quoted(text string) []string {
	forHTML, _ := json.Marshal(text) // a text always can be
	plain := strconv.Quote(text)
	return []string{string(forHTML[1 : len(forHTML)-1]), plain[1 : len(plain)-1]}
}

// base64Forms are the parts that depend on the secret alone of the base64
// text of anything that holds it, such as user:secret: one for each of the
// three places where it can start within four digits.
func base64Forms(secret string) []string {
	var forms []string
	for shift := range 3 {
		bytes := append(make([]byte, shift), secret...)
		whole := len(bytes) / 3 * 3
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			text := encoding.EncodeToString(bytes[:whole])
			if shift > 0 && text != "" {
				text = text[4:]
			}
			if len(text) >= 8 {
				forms = append(forms, text)
			}
		}
	}
	return forms
}
