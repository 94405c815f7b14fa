package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

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

// show writes the tokens of a diff as readers see them. In an added line a
// token that the object did not have before is a secret that changed.
func (v *vault) show(diff, before string) string {
	if !strings.Contains(diff, v.mark) {
		return diff
	}
	had := map[string]bool{}
	for _, token := range v.token.FindAllString(before, -1) {
		had[token] = true
	}
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		lines[i] = v.token.ReplaceAllStringFunc(line, func(token string) string {
			if strings.HasPrefix(line, "+") && !had[token] {
				return "<hidden, changed>"
			}
			return "<hidden>"
		})
	}
	return strings.Join(lines, "")
}

// reason shows why something failed, in words that may come from elsewhere and
// quote more than they should. Names are left as they are: `token: expired` is
// what the reader has to know.
func reason(text string, limit int) string {
	text = text[:min(len(text), 4*limit)]
	v := newVault([]byte(text))
	return code(v.token.ReplaceAllString(v.redactForms(text), "<hidden>"), limit)
}
