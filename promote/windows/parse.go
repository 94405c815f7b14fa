package windows

import (
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// The bounds of a file.
const (
	sizeLimit     = 64 << 10 // bytes
	windowLimit   = 200      // windows in each list
	longestWindow = 366 * 24 * time.Hour
)

// Parse reads a file. It takes nothing that it does not know: the error is an
// *strictyaml.Error that says what was expected.
func Parse(file []byte) (Schedule, error) {
	root, err := strictyaml.Document(file, sizeLimit)
	if err != nil || root == nil {
		return Schedule{zone: time.UTC}, err
	}
	top, err := fieldsOf(root, "the file", "timezone", "override", "allow", "exclude", "stop")
	if err != nil {
		return Schedule{}, err
	}
	zone, err := top.zone(time.UTC)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{zone: zone}
	if s.outside, err = top.Flag("override", false); err != nil {
		return Schedule{}, err
	}
	if s.allow, err = top.windows("allow", zone, s.outside); err != nil {
		return Schedule{}, err
	}
	if n := top.Nodes["allow"]; n != nil && len(s.allow) == 0 {
		return Schedule{}, strictyaml.Wrong(n, "allow: the list is empty: expected at least one time, or no allow where every time is allowed")
	}
	if s.exclude, err = top.windows("exclude", zone, s.outside); err != nil {
		return Schedule{}, err
	}
	s.stop, err = top.stop(zone)
	return s, err
}

// windows are the entries of a list.
func (f fields) windows(key string, zone *time.Location, override bool) ([]window, error) {
	entries, err := f.list(key)
	if err != nil {
		return nil, err
	}
	if len(entries) > windowLimit {
		return nil, strictyaml.Wrong(f.Nodes[key], "%s: there are %d times: expected %d at most", key, len(entries), windowLimit)
	}
	var all []window
	for _, n := range entries {
		w, err := readWindow(n, key, zone, override)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

func readWindow(n *yaml.Node, key string, zone *time.Location, override bool) (w window, err error) {
	keys := []string{"cron", "duration", "from", "until", "timezone", "environments", "services", "description"}
	if key == "exclude" { // what is outside of the allowed times is no single one's
		keys = append(keys, "override")
	}
	f, err := fieldsOf(n, key, keys...)
	if err != nil {
		return w, err
	}
	w.line = n.Line
	if w.scope, err = f.scope(); err != nil {
		return w, err
	}
	if w.description, err = f.Words("description"); err != nil {
		return w, err
	}
	if w.override, err = f.Flag("override", override); err != nil {
		return w, err
	}
	if zone, err = f.zone(zone); err != nil {
		return w, err
	}
	w.times, err = f.times(zone)
	return w, err
}

// times are those of a window, as cron or as one time.
func (f fields) times(zone *time.Location) (times, error) {
	switch recurs, single := f.Has("cron", "duration"), f.Has("from", "until"); {
	case recurs == 2 && single == 0:
		return f.recurring(zone)
	case single == 2 && recurs == 0:
		return f.once(zone)
	}
	return nil, strictyaml.Wrong(f.Node, "%s: expected cron and duration, or from and until, for example: {cron: \"0 9 * * 1-5\", duration: 8h}", f.Name)
}

func (f fields) once(zone *time.Location) (times, error) {
	from, err := f.moment("from", zone)
	if err != nil {
		return nil, err
	}
	until, err := f.moment("until", zone)
	if err == nil && !from.Before(until) {
		err = strictyaml.Wrong(f.Nodes["until"], "%s: until: %s is not after from, %s", f.Name, Format(until), Format(from))
	}
	return once{from, until}, err
}

// fiveFields keeps the reader from a schedule's own time zone, on which it
// panics where nothing follows (https://github.com/robfig/cron/issues/554).
var fiveFields = regexp.MustCompile(`^[^\s=]+( +[^\s=]+){4}$`)

// starred tells whether a field of cron is a star with a step. Beside another day a crontab
// takes it for a star, so that both must fit, and Argo CD does not.
func starred(field string) bool { return strings.HasPrefix(field, "*") && field != "*" }

func (f fields) recurring(zone *time.Location) (times, error) {
	text, err := f.Words("cron")
	if err != nil {
		return nil, err
	}
	bad := func(why string) error {
		return strictyaml.Wrong(f.Nodes["cron"], "%s: cron: %q: %sexpected five fields as in a crontab: minute, hour, day of the month, month, day of the week; for example: 0 9 * * 1-5", f.Name, text, why)
	}
	if !fiveFields.MatchString(text) {
		return nil, bad("")
	}
	if day, weekday := strings.Fields(text)[2], strings.Fields(text)[4]; starred(day) && weekday != "*" || starred(weekday) && day != "*" {
		return nil, bad("whether the day of the month and the day of the week must both fit, or either, is not the same everywhere; ")
	}
	schedule, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return nil, bad(err.Error() + "; ")
	}
	// A leap year has every day that there is.
	if schedule.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, bad("it never begins; ")
	}
	long, err := f.Words("duration")
	if err != nil {
		return nil, err
	}
	length, err := time.ParseDuration(long)
	if err != nil || length < time.Minute || length > longestWindow {
		return nil, strictyaml.Wrong(f.Nodes["duration"], "%s: duration: %q: expected one from 1m to %.0fh, for example: 8h, or 1h30m", f.Name, long, longestWindow.Hours())
	}
	return recurring{text, schedule, length, zone}, nil
}

// stop is what stops the line; nil: nothing does.
func (f fields) stop(zone *time.Location) (*stop, error) {
	n := f.Nodes["stop"]
	if n == nil {
		return nil, nil
	}
	f, err := fieldsOf(n, "stop", "reason", "by", "since", "environments", "services", "override")
	if err != nil {
		return nil, err
	}
	s := &stop{line: n.Line}
	if s.reason, err = f.Words("reason"); err != nil {
		return nil, err
	}
	if s.reason == "" {
		return nil, strictyaml.Wrong(n, "stop: the reason is missing: expected one for people, for example: {reason: incident 4711}")
	}
	if s.by, err = f.Words("by"); err != nil {
		return nil, err
	}
	if f.Has("since") > 0 {
		if s.since, err = f.moment("since", zone); err != nil {
			return nil, err
		}
	}
	if s.scope, err = f.scope(); err != nil {
		return nil, err
	}
	s.override, err = f.Flag("override", false)
	return s, err
}
