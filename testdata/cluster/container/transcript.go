package container

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// A Transcript collects what a program prints, and may be read meanwhile. The
// zero value is empty.
type Transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the transcript.
func (t *Transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// String is what was printed so far.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// ParseOutputs reads a step's file of outputs as the runner does: NAME<<MARK,
// the value, MARK.
func ParseOutputs(text string) (map[string]string, error) {
	outputs := map[string]string{}
	for text != "" {
		first, rest, _ := strings.Cut(text, "\n")
		name, mark, found := strings.Cut(first, "<<")
		value, after, ended := strings.Cut(rest, "\n"+mark+"\n")
		if !found || !ended {
			return nil, fmt.Errorf("the step's outputs are not in the runner's form: %q", first)
		}
		outputs[name], text = value, after
	}
	return outputs, nil
}
