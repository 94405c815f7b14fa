package slo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	separators = " ,\t\r\n"
	example    = "success>=99% latency<=500ms@99% requests>=50 from=load"
)

// A condition is one condition of an objective.
type condition struct {
	key, operator, form string
	set                 func(o *Objective, value string) error
}

// conditions are those that an objective may have.
func conditions() []condition {
	return []condition{
		{"success", ">=", "success>=PERCENT%, such as success>=99%", setSuccess},
		{"latency", "<=", "latency<=DURATION@PERCENT%, such as latency<=500ms@99%", setLatency},
		{"requests", ">=", "requests>=NUMBER, such as requests>=50", setRequests},
		{"scrape", "=", "scrape=DURATION, such as scrape=15s", setScrape},
		{"from", "=", "from=SOURCE, such as from=load", setSource},
	}
}

// Parse reads an objective, such as
//
//	success>=99% latency<=500ms@99% requests>=50 from=load
//
// in any order, with blanks, commas or lines between the parts. A source that is
// a PromQL query stands last, as it may have blanks and commas itself.
func Parse(text string) (Objective, error) {
	o := Objective{Requests: defaultRequests, From: Load}
	var had []string
	for rest := strings.Trim(text, separators); rest != ""; {
		var word string
		word, rest = cut(rest)
		p, err := partOf(word)
		if err != nil {
			return Objective{}, err
		}
		if slices.Contains(had, p.key) {
			return Objective{}, fmt.Errorf("%q: %s is there twice, expected it once, such as %s", word, p.key, example)
		}
		had = append(had, p.key)
		if err := p.set(&o, strings.TrimPrefix(word, p.key+p.operator)); err != nil {
			return Objective{}, fmt.Errorf("%q: %w", word, err)
		}
	}
	if o.Success == 0 && o.Latency == 0 {
		return Objective{}, fmt.Errorf("expected success or latency or both, but there is %q; an example is %s", text, example)
	}
	if o.Scrape > 0 && slices.Contains([]Source{Load, Kourier, Istio}, o.From) {
		return Objective{}, fmt.Errorf("scrape says how often pods are scraped, which from=%s does not depend on: expected it with from=knative or a query only", o.From)
	}
	return o, nil
}

// cut takes the first part off. A query goes to the end.
func cut(text string) (word, rest string) {
	end := strings.IndexAny(text, separators)
	if end < 0 {
		end = len(text)
	}
	word, rest = text[:end], strings.TrimLeft(text[end:], separators)
	if source, is := strings.CutPrefix(word, "from="); is && !known(Source(source)) && strings.ContainsAny(text, "({") {
		return text, ""
	}
	return word, rest
}

func partOf(word string) (condition, error) {
	key := word[:len(word)-len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"))]
	for _, p := range conditions() {
		switch {
		case p.key != key:
		case !strings.HasPrefix(word, p.key+p.operator):
			return condition{}, fmt.Errorf("%q: expected %s", word, p.form)
		default:
			return p, nil
		}
	}
	return condition{}, fmt.Errorf("%q is not known: expected success>=, latency<=, requests>=, scrape= and from=, such as %s", word, example)
}

func setSuccess(o *Objective, value string) (err error) {
	if o.Success, err = percentage(value); err != nil {
		return fmt.Errorf("%w, such as success>=99%%", err)
	}
	return nil
}

func setLatency(o *Objective, value string) (err error) {
	latency, percent, _ := strings.Cut(value, "@")
	if o.Latency, err = time.ParseDuration(latency); err != nil || o.Latency <= 0 {
		return errors.New("expected a duration above 0 and the percentage of the requests that keep it, such as latency<=500ms@99%")
	}
	if o.Fast, err = percentage(percent); err != nil {
		return fmt.Errorf("after @ %w, such as latency<=500ms@99%%", err)
	}
	return nil
}

// percentage reads one above 0 and below 100.
func percentage(text string) (float64, error) {
	digits, has := strings.CutSuffix(text, "%")
	_, fraction, _ := strings.Cut(digits, ".")
	percent, err := strconv.ParseFloat(digits, 64)
	switch {
	case !has || err != nil || strings.Trim(digits, "0123456789.") != "" || len(fraction) > decimals:
		return 0, fmt.Errorf("expected a percentage with its sign, and with %d decimals at most", decimals)
	case percent == 100:
		return 0, errors.New("expected below 100 %, as 100 % leaves no room for a single bad request in any number of them")
	case percent <= 0 || percent > 100:
		return 0, errors.New("expected above 0 % and below 100 %")
	}
	return percent, nil
}

func setRequests(o *Objective, value string) error {
	count, err := strconv.ParseUint(value, 10, 64)
	if err != nil || count < 1 || count > 1e9 {
		return errors.New("expected a whole number from 1 to 1000000000, such as requests>=50")
	}
	o.Requests = int(count)
	return nil
}

// setScrape takes what is still seen by Prometheus as one series: it looks back
// five minutes.
func setScrape(o *Objective, value string) (err error) {
	if o.Scrape, err = time.ParseDuration(value); err != nil || o.Scrape < time.Second || o.Scrape > 5*time.Minute {
		return errors.New("expected a duration from 1s to 5m, the scrape_interval that Prometheus is given, such as scrape=15s")
	}
	return nil
}

// setSource takes a name or a query. A word without brackets is a misspelt name.
func setSource(o *Objective, value string) error {
	o.From = Source(value)
	if known(o.From) {
		return nil
	}
	if !strings.ContainsAny(value, "({") {
		return errors.New("expected load, kourier, istio, knative or a PromQL query, such as from=load")
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if p, err := partOf(word); err == nil && p.key != "from" {
			return fmt.Errorf("expected the query as the last part, but %q comes behind it; an example is success>=99%% from=sum(errors)", word)
		}
	}
	return nil
}

func known(s Source) bool {
	return slices.Contains([]Source{Load, Kourier, Istio, Knative}, s)
}
