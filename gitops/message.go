package gitops

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// Longer parts of a message are cut, in bytes.
const (
	subjectLimit = 250
	valueLimit   = 1 << 10
)

// messageLimit is how much of a message is looked at for its subject, in bytes.
const messageLimit = 4 << 10

// trailerLine is a line that Git takes for a trailer.
var trailerLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*):(?: (.*))?$`)

// message is a commit message in its parts.
type message struct {
	subject  string
	trailers []Trailer
}

// newMessage brings the parts into the form that is written. No text can add a
// line or a trailer: the subject and the values become one line each.
func newMessage(subject string, trailers []Trailer) (message, error) {
	m := message{subject: oneline.Of(subject, subjectLimit)}
	if m.subject == "" {
		return message{}, fmt.Errorf("commit message: the subject is empty")
	}
	for _, t := range trailers {
		if !trailerLine.MatchString(t.Key + ":") {
			return message{}, fmt.Errorf("commit message: trailer key %q: expected letters, digits and dashes", oneline.Brief(t.Key))
		}
		m.trailers = append(m.trailers, Trailer{t.Key, oneline.Of(t.Value, valueLimit)})
	}
	return m, nil
}

func (m message) String() string {
	text := m.subject + "\n"
	for i, t := range m.trailers {
		if i == 0 {
			text += "\n"
		}
		text += strings.TrimSuffix(t.Key+": "+t.Value, " ") + "\n"
	}
	return text
}

// subjectOf is the first paragraph of any commit message as one line. It looks
// at the beginning alone, whatever the length.
func subjectOf(text []byte) string {
	start := string(text[:min(len(text), messageLimit)])
	start = strings.TrimLeft(strings.ReplaceAll(start, "\r\n", "\n"), "\n")
	first, _, _ := strings.Cut(start, "\n\n")
	return oneline.Of(first, subjectLimit)
}

// body is the message without its subject.
func (m message) body() string { return strings.TrimSpace(strings.TrimPrefix(m.String(), m.subject)) }
