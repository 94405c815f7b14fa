package manifest

import (
	"bytes"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// vault replaces secrets by tokens, the same secret by the same token, so
// that manifests can be compared without their secrets.
type vault struct {
	mark     string // starts a token and is in neither manifest
	token    *regexp.Regexp
	tokens   map[string]string
	followed map[*yaml.Node]bool // targets of aliases that were hidden
}

func newVault(manifests ...[]byte) *vault {
	mark := "hidden"
	for bytes.Contains(bytes.Join(manifests, nil), []byte(mark)) {
		mark += "x"
	}
	return &vault{
		mark:     mark,
		token:    regexp.MustCompile(mark + `-\d+-`),
		tokens:   map[string]string{},
		followed: map[*yaml.Node]bool{},
	}
}

// hide returns the token for a secret.
func (v *vault) hide(secret string) string {
	if v.token.FindString(secret) == secret {
		return secret // nothing to hide, or hidden already by another rule
	}
	token, known := v.tokens[secret]
	if !known {
		token = fmt.Sprintf("%s-%d-", v.mark, len(v.tokens))
		v.tokens[secret] = token
	}
	return token
}

// object is what changes of an object as readers see it, without tokens. In an
// added line a token that the text known does not have is a secret that changed.
func (v *vault) object(name string, change Change, hunks []Hunk, known string) Object {
	had := map[string]bool{}
	for _, token := range v.token.FindAllString(known, -1) {
		had[token] = true
	}
	for _, h := range hunks {
		for i, line := range h.Lines {
			h.Lines[i].Text = v.token.ReplaceAllStringFunc(line.Text, func(token string) string {
				if line.Sign == Plus && !had[token] {
					return "<hidden, changed>"
				}
				return hiddenText
			})
		}
	}
	return Object{Name: v.token.ReplaceAllString(name, hiddenText), Change: change, Hunks: hunks}
}

// hiddenText stands where a secret was.
const hiddenText = "<hidden>"

// HideSecrets hides what is a secret by its own form, such as a password in an
// address, a PEM block or a forge's token. Names are left as they are:
// `token: expired` is what the reader of an error has to know.
func HideSecrets(text string) string {
	v := newVault([]byte(text))
	return v.token.ReplaceAllString(v.redactForms(text), hiddenText)
}
