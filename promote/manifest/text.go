package manifest

import (
	"regexp"
	"strings"
)

// What is in a PEM block. Its rows are long but for the last one; in JSON their ends are escaped.
const (
	pemBreak   = `(?:\s|\\[nr])*`
	pemHeaders = `(?:` + pemBreak + `(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[\w ,.:()/+-]*)*`
	pemBody    = `(?:` + pemBreak + `[A-Za-z0-9+/=]{60,})*` + pemBreak + `(?:[A-Za-z0-9+/=]+` + pemBreak + `){0,2}`
)

// The rows of a PEM block that are secret: those that are long, and short ones that look encoded. Its headers may be what a script runs.
var (
	longRows = regexp.MustCompile(`[A-Za-z0-9+/=]{60,}(?:` + pemBreak + `[A-Za-z0-9+/=]{60,})*`)
	shortRow = regexp.MustCompile(`(?:\n|\r|\\n|\\r)[ \t]*([A-Za-z0-9+/=]+)`)
)

// A PEM block, with its end or the text's; and in a text that nothing runs, one of any rows, and whatever stands before an @ of an
// address, unless a host with its port does: then the @ is in the path.
var (
	wholePEM = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]+-----` + pemHeaders + pemBody + `(?:-----END [A-Z0-9 ]+-----|$)`)
	cutPEM   = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]+-----.*$`)

	anyUserinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)(` + user + `:[^\s"']*|` + user + `)@`)
	hostAndPort = regexp.MustCompile(`^(?:\[[^\]]*\]|[^/?#\s"'@:]*)(?::[0-9]*)?[/?#]`)
)

// secretForms find secrets by their own form, wherever they stand. Each is one word, and no more than that is hidden.
var secretForms = []*regexp.Regexp{
	regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/=]+`),                                                  // PEM in base64
	regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|npm_|xox[abeoprs]-)[A-Za-z0-9_-]{10,}`),       // forges and Slack
	regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bsk-[A-Za-z0-9_-]{20,}`), // clouds
	regexp.MustCompile(`ENC\[[A-Za-z0-9_,:+/=-]*\]`),                                                     // SOPS
}

// jwt is a signed JWT. Its signature is longer than the last label of any host, and no dot follows.
var jwt = regexp.MustCompile(`(eyJ[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{40,})(?:[^.\w-]|$)`)

// A word is what a shell takes for one, and no command of its own, wherever it stands. In a text that may be run no
// more than one is hidden: whoever reviews a change must see what will run, whatever it looks like.
const word = "[^\\s\"'`\\\\;&|<>(){}]"

// wordOfHost is the same up to where an address's path begins: what stands before an @ in that is no password, and hiding it
// would show another host than the address leads to.
const wordOfHost = "[^/?#\\s\"'`\\\\;&|<>(){}]"

// user is a name before a host. What a shell runs, or a client ends the host at, is none.
const user = "(?:\\$\\{[A-Za-z0-9_]+\\}|[^/?#\\\\\\s\"'`;|&<>(){}@:])*"

// The texts around a value that may be a secret. Of a row's value and of a setting's they find the start alone: where
// it is none, the next name may be in it, and a text that is one value in another would be read to its end as often as
// it has names. Behind NAME= and a blank, or a word and one, a shell runs what follows, so that is no row of a value.
var (
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)(` + user + `:` + wordOfHost + `*|` + user + `)@`)
	wholeRow = regexp.MustCompile(`(?m)^[ \t-]*["']?([A-Za-z_][A-Za-z0-9_.-]*)["']?(?:[ \t]+=|:[ \t])[ \t]*([ \t\f\r]*[^\s])`)
	aPath    = regexp.MustCompile(`^[a-z0-9._~-]*/[a-z0-9/._~-]*$`)
	scheme   = regexp.MustCompile(`(?i)(^|:[ \t]*["']?)(?:bearer|basic)[ \t]+([A-Za-z0-9+/=._~-]{16,})`)
	setting  = regexp.MustCompile(`(--?)?([A-Za-z_][A-Za-z0-9_.-]*)((?:["']?(?:[ \t]+=[ \t]*|=|:[ \t]+)|["'][ \t]*:[ \t]*|[ \t]+)["']?)(` + word + `)`)
)

// redactText hides the secrets inside one text, such as an address or a whole configuration file.
func (v *vault) redactText(text string) string {
	text = v.redactWords(wholePEM.ReplaceAllStringFunc(text, v.redactPEM))
	ofSecret := kindRow.MatchString(text)
	if !ofSecret && !namesSecret(text) {
		return text // no name in it, the usual case
	}
	text = v.replaceValue(wholeRow, 2, text, endOfRow, func(groups []string) bool { return ofSecret || secretName(groups[1]) })
	return v.redactSettings(text)
}

// redactPEM hides the secret rows of a PEM block.
func (v *vault) redactPEM(block string) string {
	block = longRows.ReplaceAllStringFunc(block, v.hide)
	var b strings.Builder
	done := 0
	for _, at := range shortRow.FindAllStringSubmatchIndex(block, -1) {
		row, rest := block[at[2]:at[3]], strings.TrimLeft(block[at[3]:], " \t")
		if isEncoded(row) && (rest == "" || strings.ContainsRune("\r\n\\-", rune(rest[0]))) {
			b.WriteString(block[done:at[2]] + v.hide(row))
			done = at[3]
		}
	}
	return b.String() + block[done:]
}

// isEncoded tells whether a row has letters of both cases, as what is encoded has and hardly a command, or is a checksum.
func isEncoded(row string) bool {
	return row[0] == '=' || row[0] != '/' && strings.ToLower(row) != row && strings.ToUpper(row) != row
}

// redactSettings hides what is set in a row or follows a flag.
func (v *vault) redactSettings(text string) string {
	if !namesSecret(text) {
		return text
	}
	return v.replaceValue(setting, 4, text, endOfWord, func(groups []string) bool {
		separated := strings.ContainsAny(groups[3], "=:")
		return secretName(groups[2]) && (separated || groups[1] != "")
	})
}

// redactWords hides what is a secret by its own form, whatever its name.
func (v *vault) redactWords(text string) string {
	for _, form := range secretForms {
		text = v.replaceForm(form, text)
	}
	text = v.replaceValue(jwt, 1, text, nil, nil)
	text = v.replaceValue(userinfo, 2, text, nil, nil)
	return v.replaceValue(scheme, 2, text, nil, func(groups []string) bool { return !aPath.MatchString(groups[2]) })
}

// replaceForm hides what has a form.
func (v *vault) replaceForm(form *regexp.Regexp, text string) string {
	var b strings.Builder
	done := 0
	for _, at := range form.FindAllStringIndex(text, -1) {
		secret := text[at[0]:at[1]]
		if strings.ToLower(secret) == secret || inHost(text[:at[0]], text[at[1]:]) || isLabel.MatchString(text[at[0]:]) {
			continue // the name of an object: random letters are of both cases; or where an address leads, or a host without one
		}
		b.WriteString(text[done:at[0]] + v.hide(secret))
		done = at[1]
	}
	return b.String() + text[done:]
}

// isLabel tells whether a text begins with a label of a host, and the next one.
var isLabel = regexp.MustCompile(`^[A-Za-z0-9-]{1,63}\.[A-Za-z]`)

// inHost tells whether what stands between two texts is in the host of an address.
func inHost(before, after string) bool {
	const longestHost = 253 + 2048 // with a userinfo
	before = before[max(0, len(before)-longestHost):]
	at := strings.LastIndex(before, "://")
	if at < 0 || strings.ContainsAny(before[at+len("://"):], "/?# \t\r\n\"'") {
		return false
	}
	after = after[:min(len(after), longestHost)]
	end := strings.IndexAny(after, "@/?# \t\r\n\"'")
	return end < 0 || after[end] != '@'
}

// replaceValue hides the value, which is a group, of every match that wanted accepts; nil: of
// each. Where end is given the group only begins the value, and end says how long it is, and whether it is hidden.
func (v *vault) replaceValue(form *regexp.Regexp, group int, text string, end func(string) (int, bool), wanted func([]string) bool) string {
	var b strings.Builder
	for {
		at := form.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text
		}
		from, to := at[2*group], at[2*group+1]
		b.WriteString(text[:from])
		if from == to || wanted != nil && !wanted(groupsOf(text, at)) {
			text = text[from:] // what looked like a value may be the next name
			continue
		}
		secret := true
		if end != nil {
			var length int
			length, secret = end(text[from:])
			to = from + length
		}
		if secret {
			b.WriteString(v.hide(text[from:to]))
		} else {
			b.WriteString(text[from:to])
		}
		text = text[to:]
	}
}

// groupsOf are the groups of a match.
func groupsOf(text string, at []int) []string {
	groups := make([]string, len(at)/2)
	for i := range groups {
		if at[2*i] >= 0 {
			groups[i] = text[at[2*i]:at[2*i+1]]
		}
	}
	return groups
}

// What makes commands of the words of a row, or ends a word.
var (
	shell     = regexp.MustCompile("[;|&<>(`]|\\$[({]|[^\\s\"'][ \\t]+[\"']") // or a call without parentheses
	endOfBare = regexp.MustCompile("[\\s\"'`\\\\;&|<>(){},]|\\$[({]")
)

// endOfRow is how much of a text is before the end of its first row, and the blanks there. One that a shell or another
// language would read as more than words is not hidden.
func endOfRow(text string) (length int, secret bool) {
	row, _, _ := strings.Cut(text, "\n")
	row = strings.TrimRight(row, " \t\f\r")
	return len(row), !shell.MatchString(row)
}

// endOfWord is how long the word is with which a text begins, without what a shell puts in its place.
func endOfWord(text string) (length int, secret bool) {
	switch end := endOfBare.FindStringIndex(text); {
	case end == nil:
		return len(text), true
	case end[0] == 0:
		return 1, false
	default:
		return end[0], true
	}
}
