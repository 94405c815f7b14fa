package container

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Journal is what act tells of a run, line by line.
type Journal []Entry

// An Entry is one line of a Journal.
type Entry struct {
	Job        string            `json:"jobID"`
	Step       string            `json:"step"`
	Message    string            `json:"msg"`
	Command    string            `json:"command"` // workflow command that a step gave
	Properties map[string]string `json:"kvPairs"` // of the command
	Argument   string            `json:"arg"`     // of the command
	Content    string            `json:"content"` // of a summary
	JobResult  string            `json:"jobResult"`
}

func readJournal(log io.Reader) (Journal, error) {
	var journal Journal
	for decoder := json.NewDecoder(log); ; {
		var entry Entry
		err := decoder.Decode(&entry)
		if err == io.EOF {
			return journal, nil
		}
		if err != nil {
			return journal, fmt.Errorf("reading act's log: %w", err)
		}
		journal = append(journal, entry)
	}
}

// Jobs are the results of the jobs, such as "promote success", in the order in
// which they ended.
func (j Journal) Jobs() []string {
	var jobs []string
	for _, entry := range j {
		if entry.JobResult != "" {
			jobs = append(jobs, entry.Job+" "+entry.JobResult)
		}
	}
	return jobs
}

// Of are the entries of the steps with an action, as owner/name.
func (j Journal) Of(action string) Journal {
	return slices.DeleteFunc(slices.Clone(j), func(entry Entry) bool { return !strings.HasPrefix(entry.Step, action+"@") })
}

// Summaries are the job summaries that the steps wrote.
func (j Journal) Summaries() []string {
	var summaries []string
	for _, entry := range j {
		if entry.Command == "summary" {
			summaries = append(summaries, entry.Content)
		}
	}
	return summaries
}

// Annotations are what steps said in annotations of a level, error, warning or
// notice, each as "title: text".
func (j Journal) Annotations(level string) []string {
	var annotations []string
	for _, entry := range j {
		if entry.Command == level {
			annotations = append(annotations, entry.Properties["title"]+": "+entry.Argument)
		}
	}
	return annotations
}

// Text is the log as people read it.
func (j Journal) Text() string {
	var text strings.Builder
	for _, entry := range j {
		text.WriteString(strings.TrimRight(entry.Message, "\n") + "\n")
	}
	return text.String()
}
