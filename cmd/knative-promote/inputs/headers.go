package inputs

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// parseHeaders accepts one header per line. Values may be secrets and are
// never part of the error.
func parseHeaders(text string) (http.Header, error) {
	headers := http.Header{}
	name := regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	for i, line := range nonBlankLines(text) {
		key, val, found := strings.Cut(line, ":")
		val = strings.TrimSpace(val)
		if !found || !name.MatchString(key) || val == "" {
			return nil, fmt.Errorf("expected Name: value on each line; line %d is not", i+1)
		}
		headers.Add(key, val)
	}
	return headers, nil
}

var (
	secretHeader = regexp.MustCompile(`(?i)auth|cookie|token|secret|key|pass|credential|session|jwt|signature`)

	// plainWords are few words of a language, such as production or eu-west 1.
	// What is made at random has other digits or capitals in it, or is longer.
	plainWords = regexp.MustCompile(`^(?:[A-Z]?[a-z]{1,12}[0-9]{0,2}|[A-Z]{1,4}|[0-9]{1,3})(?:[-_./ ](?:[A-Z]?[a-z]{1,12}[0-9]{0,2}|[A-Z]{1,4}|[0-9]{1,3})){0,3}$`)
)

// isPlain says that a header's value is no secret: hiding an ordinary word
// wherever it stands would ruin commits, comments and outputs.
func isPlain(header, value string) bool {
	return !secretHeader.MatchString(header) && plainWords.MatchString(value)
}

// headerSecrets are the values that are to be hidden, and of values with
// several parts, such as Bearer and a token, the parts that are secrets alone.
// Text that is no headers has none.
func headerSecrets(text string) []string {
	headers, err := parseHeaders(text)
	if err != nil {
		return nil
	}
	var secrets []string
	for name, values := range headers {
		for _, value := range values {
			if isPlain(name, value) {
				continue
			}
			secrets = append(secrets, value)
			parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,;=", r) })
			secrets = append(secrets, slices.DeleteFunc(parts, plainWords.MatchString)...)
		}
	}
	return secrets
}

// plainHeaders are the names of the headers whose values are not hidden.
func plainHeaders(headers http.Header) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if slices.ContainsFunc(headers[name], func(value string) bool { return isPlain(name, value) }) {
			names = append(names, name)
		}
	}
	return names
}
