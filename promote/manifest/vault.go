package manifest

import (
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// vault replaces secrets by tokens, the same secret by the same token, so
// that manifests can be compared without their secrets.
type vault struct {
	mark   string // starts a token and is in neither manifest
	token  *regexp.Regexp
	tokens map[string]string

	// What was hidden is not gone through again for each node above it that hides it, nor for
	// each alias of it: there may be thousands, and an alias may be in what it stands for.
	hidden map[*yaml.Node]bool // with all below it
	own    map[*yaml.Node]bool // the scalars of a list
	runs   map[*yaml.Node]bool // commands
}

// marks finds what a token may begin with.
var marks = regexp.MustCompile(`hidden[0-9]*-`)

func newVault(manifests ...[]byte) *vault {
	taken := map[string]bool{}
	for _, text := range manifests {
		for _, mark := range marks.FindAll(text, -1) {
			taken[string(mark)] = true
		}
	}
	mark := "hidden-"
	for n := 2; taken[mark]; n++ {
		mark = fmt.Sprintf("hidden%d-", n)
	}
	return &vault{
		mark:   mark,
		token:  regexp.MustCompile(mark + `\d+-`),
		tokens: map[string]string{},
		hidden: map[*yaml.Node]bool{},
		own:    map[*yaml.Node]bool{},
		runs:   map[*yaml.Node]bool{},
	}
}

// hide returns the token for a secret.
func (v *vault) hide(secret string) string {
	if v.token.FindString(secret) == secret {
		return secret // nothing to hide, or hidden already by another rule
	}
	token, known := v.tokens[secret]
	if !known {
		token = fmt.Sprintf("%s%d-", v.mark, len(v.tokens))
		v.tokens[secret] = token
	}
	return token
}

// object is what changes of an object as readers see it, without tokens. In an
// added line a token that the text known does not have is a secret that changed.
func (v *vault) object(name string, change Change, hunks []Hunk, known string) Object {
	had := v.tokensIn(known)
	for _, h := range hunks {
		for i, line := range h.Lines {
			if line.Sign == Plus {
				h.Lines[i].Text = v.shown(line.Text, had)
			} else {
				h.Lines[i].Text = v.shown(line.Text, nil)
			}
		}
	}
	return Object{Name: v.shown(name, nil), Change: change, Hunks: hunks}
}

func (v *vault) tokensIn(text string) map[string]bool {
	found := map[string]bool{}
	for _, token := range v.token.FindAllString(text, -1) {
		found[token] = true
	}
	return found
}

// shown is a text as readers see it, without tokens. One that is not among
// those it had is a secret that changed; had is nil where none did.
func (v *vault) shown(text string, had map[string]bool) string {
	return v.token.ReplaceAllStringFunc(text, func(token string) string {
		if had != nil && !had[token] {
			return hiddenStart + ", changed>"
		}
		return hiddenText
	})
}

// What stands where a secret was, and how that begins.
const (
	hiddenText  = hiddenStart + ">"
	hiddenStart = "<hidden"
)

// HideSecrets hides what is a secret by its own form, such as a password in an
// address, a PEM block or a forge's token. Names are left as they are:
// `token: expired` is what the reader of an error has to know.
func HideSecrets(text string) string {
	v := newVault([]byte(text))
	text = cutPEM.ReplaceAllStringFunc(wholePEM.ReplaceAllStringFunc(text, v.hide), v.hide)
	text = v.replaceValue(anyUserinfo, 2, text, nil, func(groups []string) bool { return !hostAndPort.MatchString(groups[2]) })
	return v.shown(v.redactWords(text), nil)
}

// HideForms hides the same of a text by which people decide what they merge, and nothing around it: a whole PEM block, and of an
// address what is before its host.
func HideForms(text string) string {
	v := newVault([]byte(text))
	return v.shown(v.redactWords(wholePEM.ReplaceAllStringFunc(text, v.hide)), nil)
}
