package compare

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Question is a path and what of its answers is compared.
type Question struct {
	Path    string   // path and query, such as /api/items?page=1
	Status  bool     // compare the status
	Latency float64  // the candidate may take so many times as long; 0: not compared
	JSON    bool     // compare the fields of the JSON
	Ignore  []string // fields that are not compared, with all below them, such as items[].id
	Count   int      // rounds
}

// Bounds of what may be asked. With the fewest rounds, a candidate that differs
// in all of them fails also where all questions are asked.
const (
	defaultCount  = 20
	fewest, most  = 10, 200
	mostQuestions = 10
	highestFactor = 1000
)

const example = "/api/items status,latency<=1.5x,json count=20 ignore=generatedAt,items[].id"

// Parse reads questions, one a line, such as
//
//	/api/items status,latency<=1.5x,json count=20 ignore=generatedAt,items[].id
//
// The status is compared where nothing else is named.
func Parse(text string) ([]Question, error) {
	var questions []Question
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		q, err := parseLine(line)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(questions, func(other Question) bool { return other.Path == q.Path }) {
			return nil, fmt.Errorf("%s is there twice, expected each path once", q.Path)
		}
		questions = append(questions, q)
	}
	switch {
	case len(questions) == 0:
		return nil, errors.New("expected a path, such as " + example)
	case len(questions) > mostQuestions:
		return nil, fmt.Errorf("expected %d paths at most, but there are %d", mostQuestions, len(questions))
	}
	return questions, nil
}

func parseLine(line string) (Question, error) {
	words := strings.Fields(line)
	q := Question{Path: words[0], Count: defaultCount}
	if !isPath(q.Path) {
		return q, fmt.Errorf("%q: expected a path that starts with one slash, such as %s", q.Path, example)
	}
	var had []string
	for _, word := range words[1:] {
		key, err := q.set(word)
		if err == nil && slices.Contains(had, key) {
			err = fmt.Errorf("expected %s once", key)
		}
		if err != nil {
			return q, fmt.Errorf("%q: %w", word, err)
		}
		had = append(had, key)
	}
	q.Status = q.Status || q.Latency == 0 && !q.JSON
	if len(q.Ignore) > 0 && !q.JSON {
		return q, fmt.Errorf("ignore= names fields of the JSON, which is not compared: expected json too, such as %s", example)
	}
	return q, nil
}

// set reads one word behind the path, and says which part of the line it is.
func (q *Question) set(word string) (part string, err error) {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "count":
		q.Count, err = strconv.Atoi(value)
		if err != nil || q.Count < fewest || q.Count > most {
			err = fmt.Errorf("expected a whole number from %d to %d, such as count=%d", fewest, most, defaultCount)
		}
		return key, err
	case "ignore":
		q.Ignore, err = parseIgnore(value)
		return key, err
	}
	for what := range strings.SplitSeq(word, ",") {
		if err := q.compare(what); err != nil {
			return "", err
		}
	}
	return "what is compared", nil
}

// compare has one more thing compared.
func (q *Question) compare(what string) error {
	factor, isLatency := strings.CutPrefix(what, "latency<=")
	switch {
	case what == "status" && !q.Status:
		q.Status = true
	case what == "json" && !q.JSON:
		q.JSON = true
	case isLatency && q.Latency == 0:
		return q.setLatency(factor)
	case what == "status", what == "json", isLatency:
		name, _, _ := strings.Cut(what, "<=")
		return fmt.Errorf("expected %s once", name)
	case strings.HasPrefix(what, "latency"):
		return errors.New("expected latency<=FACTORx, such as latency<=1.5x")
	default:
		return fmt.Errorf("%q is not known: expected status, latency<=FACTORx and json with commas between them, count= or ignore=, such as %s", what, example)
	}
	return nil
}

func (q *Question) setLatency(text string) error {
	digits, has := strings.CutSuffix(text, "x")
	factor, err := strconv.ParseFloat(digits, 64)
	if !has || err != nil || strings.Trim(digits, "0123456789.") != "" || math.IsNaN(factor) || factor < 1 || factor > highestFactor {
		return fmt.Errorf("expected a factor from 1x to %dx, such as latency<=1.5x", highestFactor)
	}
	q.Latency = factor
	return nil
}

func parseIgnore(text string) ([]string, error) {
	fields := strings.Split(text, ",")
	for _, field := range fields {
		if field == "" || strings.HasPrefix(field, "$") || strings.HasPrefix(field, ".") || strings.HasPrefix(field, "/") {
			return nil, fmt.Errorf("expected fields from the top of the JSON, with dots between their names, such as ignore=generatedAt,items[].id, but there is %q", field)
		}
	}
	return fields, nil
}

func isPath(text string) bool {
	u, err := url.ParseRequestURI(text)
	return err == nil && u.Host == "" && strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && !strings.Contains(text, "#")
}
