package inputs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

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
	if err != nil || d <= 0 {
		return 0, errors.New("expected a duration above zero with its unit (90s, 5m, 1h30m)")
	}
	return d, nil
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

// parsePath accepts the name of a file.
func parsePath(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.HasSuffix(text, "/") {
		return "", errors.New("expected the name of a file on one line")
	}
	return text, nil
}

// parseNewFolder accepts the name of a folder to write into.
func parseNewFolder(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || filepath.Clean(text) == string(filepath.Separator) {
		return "", errors.New("expected the name of a folder on one line")
	}
	return filepath.Clean(text), nil
}

// nonBlankLines are the lines of a text, trimmed.
func nonBlankLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
