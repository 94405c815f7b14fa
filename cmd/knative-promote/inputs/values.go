package inputs

import (
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
)

const (
	rollbackPolicy = promote.Rollback
	holdPolicy     = promote.Hold
)

// A value checks a text and keeps what it means in the settings. It is a
// flag.Value.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
}

func bind[T any](to *T, parse func(string) (T, error)) value[T] {
	return value[T]{to, parse}
}

// Set parses the text. The error says what was expected.
func (v value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err != nil {
		return err
	}
	*v.to = parsed
	return nil
}

// String is the present value for people.
func (v value[T]) String() string {
	if v.to == nil {
		return ""
	}
	return fmt.Sprint(*v.to)
}

// parseBool accepts the booleans of YAML 1.2, as the toolkit of GitHub's own
// actions does.
func parseBool(text string) (bool, error) {
	switch text {
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	}
	return false, errors.New("expected true or false")
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		var seconds int64
		seconds, err = strconv.ParseInt(text, 10, 32)
		d = time.Duration(seconds) * time.Second
	}
	if err != nil || d <= 0 {
		return 0, errors.New("expected a duration above zero, in Go's syntax (90s, 5m, 1h30m) or in seconds")
	}
	return d, nil
}

func parseCount(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("expected a whole number from %d to %d", least, most)
		}
		return n, nil
	}
}

func oneOf[T ~string](choices ...T) func(string) (T, error) {
	return func(text string) (T, error) {
		names := make([]string, len(choices))
		for i, choice := range choices {
			if text == string(choice) {
				return choice, nil
			}
			names[i] = string(choice)
		}
		last := len(names) - 1
		return "", fmt.Errorf("expected %s or %s%s", strings.Join(names[:last], ", "), names[last], didYouMean(text, names))
	}
}

// parseLabel accepts what Knative accepts as the name of a Service or a tag.
func parseLabel(text string) (string, error) {
	if len(validation.IsDNS1035Label(text)) > 0 {
		return "", errors.New("expected a DNS label: lower-case letters, digits and dashes, a letter first, 63 characters at most")
	}
	return text, nil
}

// parseAppID accepts a number, and a client id such as Iv23liAbCdEf.
func parseAppID(text string) (string, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9.]{1,64}$`).MatchString(text) {
		return "", errors.New("expected the App's id or client id, of letters and digits")
	}
	return text, nil
}

// parseSubdomain accepts the names of most Kubernetes objects.
func parseSubdomain(text string) (string, error) {
	if len(validation.IsDNS1123Subdomain(text)) > 0 {
		return "", errors.New("expected a Kubernetes name: lower-case letters, digits, dashes and dots")
	}
	return text, nil
}

// parseLine accepts a short text of one printable line.
func parseLine(text string) (string, error) {
	if len(text) > 100 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", errors.New("expected one printable line of 100 bytes at most")
	}
	return text, nil
}

// parseReason folds the text into one line: it goes into a commit's trailers.
func parseReason(text string) (string, error) {
	line := strings.Join(strings.Fields(text), " ")
	if len(line) > 500 || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", errors.New("expected printable text of 500 bytes at most")
	}
	return line, nil
}

func parseName(text string) (string, error) {
	if _, err := parseLine(text); err != nil || strings.ContainsAny(text, "<>") {
		return "", errors.New("expected a name of one line without < and >")
	}
	return text, nil
}

func parseEmail(text string) (string, error) {
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text {
		return "", errors.New("expected an email address alone")
	}
	return text, nil
}

func parseSecret(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return "", errors.New("expected one line without blanks")
	}
	return text, nil
}

// parsePath accepts the name of a file.
func parsePath(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.HasSuffix(text, "/") {
		return "", errors.New("expected the name of a file on one line")
	}
	return text, nil
}

// parseRules accepts names of check's rules.
func parseRules(text string) ([]string, error) {
	var known, names []string
	for _, rule := range check.Rules() {
		known = append(known, rule.ID)
	}
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no rule %q%s", name, didYouMean(name, known))
		}
		names = append(names, name)
	}
	return names, nil
}

// parseObjects accepts objects by kind and name, with the namespace between
// them or without.
func parseObjects(text string) ([]string, error) {
	var names []string
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if !regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(/[a-z0-9][a-z0-9.-]*){1,2}$`).MatchString(name) {
			return nil, fmt.Errorf("%q: expected Kind/name or Kind/namespace/name", name)
		}
		names = append(names, name)
	}
	return names, nil
}

// parseTo accepts a revision's name or a commit's hash, whole or short.
func parseTo(text string) (string, error) {
	if regexp.MustCompile(`^[0-9a-f]{7,40}$`).MatchString(text) {
		return text, nil
	}
	if _, err := parseLabel(text); err != nil {
		return "", errors.New("expected the name of a revision, or 7 to 40 hexadecimal digits of a commit")
	}
	return text, nil
}
