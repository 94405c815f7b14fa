package template

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	strictjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/internal/strictyaml"
)

// MaxFile is how long a file may be, and what follows bounds what is in it. An
// alias in YAML stands for a copy.
const (
	MaxFile      = 256 << 10 // bytes
	maxDocuments = 100
	maxExpanded  = 1 << 20 // bytes of all texts and nodes, aliases expanded
)

const (
	namespaced = "AnalysisTemplate"
	cluster    = "ClusterAnalysisTemplate"
)

// Parse reads the templates of a file, in YAML or JSON, and says what is wrong
// with it. The templates are those that could be read.
func Parse(file string, content []byte) ([]Template, []error) {
	if len(content) > MaxFile {
		return nil, []error{fmt.Errorf("%s: is %d bytes long, expected at most %d", file, len(content), MaxFile)}
	}
	var templates []Template
	var all []error
	documents := k8syaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for number := 1; ; number++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && number > maxDocuments {
			err = fmt.Errorf("has more than %d documents", maxDocuments)
		}
		if err != nil {
			return nil, append(all, fmt.Errorf("%s: %w", file, err))
		}
		if isBlank(text) {
			continue
		}
		t, wrong := parseDocument(text)
		for _, err := range wrong {
			all = append(all, fmt.Errorf("%s: document %d: %w", file, number, err))
		}
		if t.Name != "" && len(wrong) == 0 {
			t.File = file
			templates = append(templates, t)
		}
	}
	if len(templates) == 0 && len(all) == 0 {
		all = append(all, fmt.Errorf("%s: expected an %s or a %s, but the file is empty", file, namespaced, cluster))
	}
	return templates, all
}

// isBlank tells whether a document has nothing but comments.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

func parseDocument(text []byte) (Template, []error) {
	if err := strictyaml.Bounded(text, maxExpanded); err != nil {
		return Template{}, []error{errors.New(oneline.Of(err.Error(), 300))}
	}
	asJSON, err := sigsyaml.YAMLToJSONStrict(text)
	if err != nil {
		return Template{}, []error{errors.New(oneline.Of(err.Error(), 300))}
	}
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(asJSON, &head); err != nil || !strings.HasPrefix(head.APIVersion, "argoproj.io/") || head.Kind != namespaced && head.Kind != cluster {
		return Template{}, []error{fmt.Errorf("expected an %s or a %s of argoproj.io/v1alpha1, but there is %q of %q",
			namespaced, cluster, oneline.Of(head.Kind, 80), oneline.Of(head.APIVersion, 80))}
	}
	var d document
	unknown, err := strictjson.UnmarshalStrict(asJSON, &d)
	if err != nil {
		return Template{}, []error{fmt.Errorf("%s %s: %w", d.Kind, d.Metadata.Name, wrongType(err))}
	}
	for i, err := range unknown {
		unknown[i] = fmt.Errorf("%s %s: %s", d.Kind, d.Metadata.Name, oneline.Of(err.Error(), 300))
	}
	if d.Metadata.Name == "" {
		unknown = append(unknown, fmt.Errorf("%s: metadata.name: expected a name", d.Kind))
	}
	return Template{Kind: d.Kind, Name: d.Metadata.Name, spec: d.Spec}, unknown
}

// wrongType says an error of decoding without Go's words.
func wrongType(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: there is a %s where it does not belong; expected %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return errors.New(oneline.Of(err.Error(), 300))
}
