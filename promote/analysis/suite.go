package analysis

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/redact"
	"github.com/acme/knative-promote/promote/analysis/template"
)

// A Suite is what the inputs ask for: the templates and their steps.
type Suite struct {
	templates map[string][]template.Template // by file
	all       []template.Template
	inputs    Inputs
}

// Inputs are what the user asks for, and with which values.
type Inputs struct {
	Entries    []Entry           // analysis
	Args       map[string]string // analysis-args
	Secrets    map[string]string // analysis-secrets, by name/key
	Prometheus string            // the address for queries that name none
	Connect    string            // host:port to connect to instead of the Service's hosts; empty: these
}

// Asked tells whether there is an analysis after the step.
func (i Inputs) Asked(step Step) bool {
	return slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.asked(step) })
}

// A Step is one after which an analysis may be asked.
type Step struct {
	Percent int // 0 for the candidate's
	Bake    time.Duration
	AtOnce  bool // it takes the place of all steps
}

func (s Step) name() string {
	if s.Percent == candidateStep {
		return "candidate"
	}
	return strconv.Itoa(s.Percent)
}

// An Analysis is what is asked after one step.
type Analysis struct {
	merged  template.Merged
	values  func() template.Values
	connect string
}

// Load reads the files of the entries in the tree of the infra repository, and says
// everything that is wrong with them and with the inputs, before there is a
// candidate.
func Load(inputs Inputs, sources Sources, steps []Step, tree fs.FS) (Suite, []error) {
	s := Suite{templates: map[string][]template.Template{}, inputs: inputs}
	var wrong []error
	for _, entry := range inputs.Entries {
		if _, done := s.templates[entry.File]; !done {
			templates, errs := parse(entry.File, tree)
			s.templates[entry.File] = templates
			s.all = append(s.all, templates...)
			wrong = append(wrong, errs...)
		}
		wrong = append(wrong, entry.unused(steps)...)
	}
	wrong = append(wrong, template.Twice(s.all)...)
	wrong = append(wrong, template.Values{Own: inputs.Args}.Undeclared(s.all)...)
	short := map[string][]string{} // steps that are too short for an endless metric, by its place
	for _, step := range steps {
		merged, errs := s.merge(step)
		wrong = append(wrong, errs...)
		if merged == nil {
			continue
		}
		metrics, secrets, errs := merged.Resolve(s.values(sample.values(time.Time{})))
		wrong = append(wrong, errs...)
		for _, m := range metrics {
			wrong = append(wrong, sources.cannot(m, secrets)...)
			if m.Endless() && m.InitialDelay >= step.Bake {
				short[m.At] = append(short[m.At], step.name())
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(short)) {
		wrong = append(wrong, fmt.Errorf("%s: has an interval and no count, so it is measured for as long as a step bakes; these do not bake, or not longer than its initialDelay: %s: expected a count, a bake such as 10@5m in the input steps, or other steps with at= in the input analysis", at, strings.Join(short[at], ", ")))
	}
	return s, distinct(wrong)
}

func parse(file string, tree fs.FS) ([]template.Template, []error) {
	content, err := read(file, tree)
	if err != nil {
		return nil, []error{fmt.Errorf("input analysis: %s: %w", file, err)}
	}
	return template.Parse(file, content)
}

// read is a file's content, of which no more is read than a file may have.
func read(file string, tree fs.FS) ([]byte, error) {
	f, err := tree.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file in the infra repository: expected a path from its root")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, template.MaxFile+1))
}

// Jobs are the metrics with a job that are measured after any of the steps.
func (s Suite) Jobs(steps []Step) []template.Metric {
	var jobs []template.Metric
	for _, step := range steps {
		merged, _ := s.merge(step)
		if merged == nil {
			continue
		}
		metrics, _, _ := merged.Resolve(s.values(sample.values(time.Time{})))
		for _, m := range metrics {
			if m.Job != nil && !slices.ContainsFunc(jobs, func(j template.Metric) bool { return j.At == m.At }) {
				jobs = append(jobs, m)
			}
		}
	}
	return jobs
}

// unused says which of the entry's steps are none of the promotion's.
func (e Entry) unused(steps []Step) []error {
	var wrong []error
	for _, percent := range e.At {
		if !slices.ContainsFunc(steps, func(s Step) bool { return s.Percent == percent }) {
			wrong = append(wrong, fmt.Errorf("input analysis: %s: at=%d is none of the promotion's steps", e.File, percent))
		}
	}
	return wrong
}

// merge puts the templates for a step together; nil if there are none.
func (s Suite) merge(step Step) (*template.Merged, []error) {
	var templates []template.Template
	for _, entry := range s.inputs.Entries {
		if entry.asked(step) {
			templates = append(templates, s.templates[entry.File]...)
		}
	}
	if len(templates) == 0 {
		return nil, nil
	}
	merged, wrong := template.Merge(templates, s.all)
	return &merged, wrong
}

func (s Suite) values(known map[string]string) template.Values {
	return template.Values{Known: known, Own: s.inputs.Args, Secrets: s.inputs.Secrets, Prometheus: s.inputs.Prometheus}
}

// At is what is asked after the step; false if nothing is.
func (s Suite) At(step Step, facts Facts) (Analysis, bool) {
	merged, _ := s.merge(step)
	if merged == nil {
		return Analysis{}, false
	}
	values := func() template.Values { return s.values(facts.values(time.Now())) }
	return Analysis{merged: *merged, values: values, connect: s.inputs.Connect}, true
}

// Patience is the longest that a run takes.
func (s Suite) Patience(step Step, wait time.Duration) time.Duration {
	merged, _ := s.merge(step)
	if merged == nil {
		return 0
	}
	metrics, _, _ := merged.Resolve(s.values(sample.values(time.Time{})))
	var longest time.Duration
	for _, m := range metrics {
		round := max(m.Interval, retryAfter) + m.Timeout()
		all := m.InitialDelay + time.Duration(m.Count+1)*round
		if m.Endless() {
			all = max(step.Bake, m.InitialDelay) + 2*round
		}
		longest = max(longest, all+wait+graceForErrors(m))
	}
	return longest
}

// Least is the shortest that a run takes in which all is good.
func (s Suite) Least(step Step) time.Duration {
	merged, _ := s.merge(step)
	if merged == nil {
		return step.Bake
	}
	metrics, _, _ := merged.Resolve(s.values(sample.values(time.Time{})))
	longest := step.Bake
	for _, m := range metrics {
		rounds := m.Count
		if m.ConsecutiveSuccessLimit > 0 { // which ends it when it is reached
			rounds = m.ConsecutiveSuccessLimit
		}
		if !m.Endless() {
			longest = max(longest, m.InitialDelay+time.Duration(rounds-1)*m.Interval)
		}
	}
	return longest
}

// Metrics are those that are measured, with their arguments as they are now.
func (a Analysis) Metrics() ([]template.Metric, error) {
	metrics, _, wrong := a.merged.Resolve(a.values())
	return metrics, errors.Join(wrong...)
}

// metric is one of them, with what may not be shown of it.
func (a Analysis) metric(index int) (template.Metric, *redact.Secrets, error) {
	values := a.values()
	metrics, secrets, wrong := a.merged.Resolve(values)
	if len(wrong) > 0 {
		return template.Metric{}, secrets, errors.Join(wrong...)
	}
	metric := metrics[index]
	if metric.Web != nil && asksService(metric.Web.URL, values.Known) {
		metric.Web.Connect = a.connect
	}
	return metric, secrets, nil
}

// asksService tells whether an address is at one of the Service's own hosts, to
// which a run may have to take another way than DNS knows.
func asksService(address string, known map[string]string) bool {
	asked, err := url.Parse(address)
	if err != nil || asked.Host == "" {
		return false
	}
	return slices.ContainsFunc([]string{known["candidate-url"], known["url"]}, func(own string) bool {
		u, err := url.Parse(own)
		return err == nil && u.Host == asked.Host
	})
}

// distinct leaves out what was said already, of a step before.
func distinct(all []error) []error {
	var once []error
	for _, err := range all {
		if !slices.ContainsFunc(once, func(e error) bool { return e.Error() == err.Error() }) {
			once = append(once, err)
		}
	}
	return once
}
