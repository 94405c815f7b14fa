package pipeline

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Given is what the text of a file gives an input of a Service in an environment, also of one
// that [Parse] refuses. Empty: it gives nothing, or nobody can tell.
func Given(text []byte, service, environment, input string) string {
	if len(text) > sizeLimit {
		return ""
	}
	type settings map[string]any
	var file struct {
		Defaults     settings
		Environments map[string]settings
		Services     map[string]map[string]settings
	}
	err := yaml.Unmarshal(text, &file)
	if _, odd := errors.AsType[*yaml.TypeError](err); err != nil && !odd {
		return ""
	}
	for _, layer := range []settings{file.Services[service][environment], file.Environments[environment], file.Defaults} {
		if value, said := layer[input]; said {
			return fmt.Sprint(value)
		}
	}
	return ""
}
