package gitops

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// Longer parts of a message are cut, in bytes.
const (
	subjectLimit = 250
	valueLimit   = 1 << 10
	bodyLimit    = 16 << 10
)

// trailerLine is a line that Git takes for a trailer.
var trailerLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*):(?: (.*))?$`)

// message is a commit message in its parts.
type message struct {
	subject, body string
	trailers      []Trailer
}

// newMessage brings the parts into the form that parseMessage gives back. No
// text can add a line or a trailer: the subject and the values become one line
// each, and a line of the body that reads like a trailer is indented.
func newMessage(subject, body string, trailers []Trailer) (message, error) {
	m := message{subject: cut(fold(subject), subjectLimit), body: cut(tidy(body), bodyLimit)}
	if m.subject == "" {
		return message{}, fmt.Errorf("commit message: the subject is empty")
	}
	for _, t := range trailers {
		if !trailerLine.MatchString(t.Key + ":") {
			return message{}, fmt.Errorf("commit message: trailer key %q: expected letters, digits and dashes", clean(t.Key))
		}
		m.trailers = append(m.trailers, Trailer{t.Key, cut(fold(t.Value), valueLimit)})
	}
	return m, nil
}

func (m message) String() string {
	paragraphs := []string{m.subject}
	if m.body != "" {
		paragraphs = append(paragraphs, m.body)
	}
	var lines []string
	for _, t := range m.trailers {
		lines = append(lines, strings.TrimSuffix(t.Key+": "+t.Value, " "))
	}
	if len(lines) > 0 {
		paragraphs = append(paragraphs, strings.Join(lines, "\n"))
	}
	return strings.Join(paragraphs, "\n\n") + "\n"
}

// parseMessage takes any commit message apart. Its trailers are the last
// paragraph if that is not the first and has no other lines.
func parseMessage(text string) message {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	first, rest, _ := strings.Cut(text, "\n\n")
	m := message{subject: fold(first), body: strings.Trim(rest, "\n")}
	before, last := "", m.body
	if i := strings.LastIndex(m.body, "\n\n"); i >= 0 {
		before, last = m.body[:i], m.body[i+2:]
	}
	if trailers, ok := parseTrailers(last); ok {
		m.trailers, m.body = trailers, strings.TrimRight(before, "\n")
	}
	return m
}

func parseTrailers(paragraph string) ([]Trailer, bool) {
	var trailers []Trailer
	for line := range strings.Lines(paragraph) {
		line = strings.TrimRight(line, "\n")
		if found := trailerLine.FindStringSubmatch(line); found != nil {
			trailers = append(trailers, Trailer{found[1], strings.TrimSpace(found[2])})
			continue
		}
		// An indented line continues the value above it.
		if len(trailers) == 0 || !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			return nil, false
		}
		above := &trailers[len(trailers)-1]
		above.Value = fold(above.Value + " " + line)
	}
	return trailers, len(trailers) > 0
}

// fold makes one line of text, with single blanks.
func fold(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

// tidy keeps the lines of text: at most one empty line between two others,
// no blanks at the end of a line, nothing that reads like a trailer.
func tidy(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(printable(line), " ")
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		if trailerLine.MatchString(line) {
			line = "    " + line
		}
		lines = append(lines, line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(line, "\uFFFD"))
}

// cut bounds text and shows that something is missing.
func cut(text string, limit int) string {
	const mark = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(mark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimRight(text[:end], " \n") + mark
}
