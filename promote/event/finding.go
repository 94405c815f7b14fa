package event

import "fmt"

// A Finding is one trouble that a rule has found.
type Finding struct {
	Rule     string   `json:"rule"`               // the rule's ID
	Severity Severity `json:"severity"`           // the rule's, unless Find sets a higher one
	Problem  string   `json:"problem"`            // what is wrong, one line that names the object and the value
	Effect   string   `json:"effect"`             // what will happen, in one or two sentences
	Evidence string   `json:"evidence,omitempty"` // what was read and where, may have several lines
	Fix      string   `json:"fix,omitempty"`      // what to do: words, then a patch or a command to paste
	Link     string   `json:"link,omitempty"`     // the rule's, unless Find sets another
	File     string   `json:"file,omitempty"`     // of the infra repository, slash-separated; empty: none
	Line     int      `json:"line,omitempty"`     // in File, from 1; 0: the whole file
}

// A Severity says how bad a finding is.
type Severity int

// The severities. Only an error stops a promotion.
const (
	SeverityInfo    Severity = iota // good to know, or a guide's advice explained
	SeverityWarning                 // breaks something at times, or later
	SeverityError                   // the promotion will fail or do nothing
)

// String is the severity in lower case, as outputs show it.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// MarshalText gives JSON the severity as people read it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	for *s = SeverityInfo; *s <= SeverityError; *s++ {
		if s.String() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("severity %q: expected info, warning or error", text)
}

// Count counts the findings of a severity.
func Count(findings []Finding, severity Severity) int {
	n := 0
	for _, f := range findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}
