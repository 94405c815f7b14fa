package analysis

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The steps that have names.
const (
	candidateStep = 0
	finalStep     = 100
)

// An Entry is a line of the input: a file, and the steps that it is for.
type Entry struct {
	File string // its path in the infra repository
	At   []int  // percentages; 0 is the candidate's step. Empty for all
}

// ParseEntries reads the input analysis, lines such as
//
//	analysis/success-rate.yaml at=10,50
//
// with at=every (the default), candidate, final or percentages.
func ParseEntries(text string) ([]Entry, error) {
	var entries []Entry
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		entry, err := parseEntry(fields)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func parseEntry(fields []string) (Entry, error) {
	entry := Entry{File: path.Clean(fields[0])}
	if path.IsAbs(entry.File) || entry.File == "." || strings.HasPrefix(entry.File, "..") || strings.ContainsAny(entry.File, "=*") {
		return Entry{}, fmt.Errorf("expected the path of a file in the infra repository, such as analysis/success-rate.yaml")
	}
	for _, option := range fields[1:] {
		steps, isAt := strings.CutPrefix(option, "at=")
		if !isAt || entry.At != nil {
			return Entry{}, fmt.Errorf("expected FILE and at=STEPS once, such as at=10,50, but there is %q", option)
		}
		if steps == "every" {
			continue
		}
		for step := range strings.SplitSeq(steps, ",") {
			percent, err := parseStep(step)
			if err != nil {
				return Entry{}, err
			}
			entry.At = append(entry.At, percent)
		}
	}
	return entry, nil
}

func parseStep(text string) (int, error) {
	switch text {
	case "candidate":
		return candidateStep, nil
	case "final":
		return finalStep, nil
	}
	percent, err := strconv.Atoi(text)
	if err != nil || percent < 1 || percent > 100 {
		return 0, fmt.Errorf("at=%s: expected every, candidate, final or percentages from 1 to 100, such as at=10,50", text)
	}
	return percent, nil
}

// asked tells whether the entry is for the step.
func (e Entry) asked(step Step) bool {
	return len(e.At) == 0 || step.AtOnce || slices.Contains(e.At, step.Percent)
}

// ParsePairs reads lines name=value, of analysis-args and of analysis-secrets. No
// error contains a value.
func ParsePairs(text string) (map[string]string, error) {
	pairs := map[string]string{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			return nil, fmt.Errorf("line %d: expected name=value", number)
		}
		if _, again := pairs[name]; again {
			return nil, fmt.Errorf("%s: is there twice, expected it once", name)
		}
		pairs[name] = strings.TrimSpace(value)
	}
	return pairs, nil
}
