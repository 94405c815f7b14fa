package knative

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Pinned finds Services whose template changes between two renders while its
// revision's name stays: Knative refuses such a change, and Argo CD's sync
// fails. Each finding is a sentence.
func Pinned(before, after []byte) ([]string, error) {
	was, err := decode(before)
	if err != nil {
		return nil, err
	}
	is, err := decode(after)
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, service := range is {
		name := service.text("spec", "template", "metadata", "name")
		if !service.isKnativeService() || name == "" {
			continue
		}
		i := slices.IndexFunc(was, func(o object) bool { return o.isKnativeService() && o.id() == service.id() })
		if i < 0 || was[i].text("spec", "template", "metadata", "name") != name {
			continue
		}
		fields := differences("/spec/template", was[i].at("spec", "template"), service.at("spec", "template"))
		if len(fields) > 0 {
			findings = append(findings, fmt.Sprintf("%s changes under the pinned revision name %s (%s): Knative will refuse it and the sync will fail. "+
				"Promote it with knative-promote, which gives it a new name, instead of merging it alone.", service.id(), name, list(fields)))
		}
	}
	return findings, nil
}

// Own tells the files that the tool writes from all others, by their names.
func Own(file string) bool {
	name := path.Base(file)
	return strings.HasPrefix(name, ownPrefix) && strings.HasSuffix(name, ".yaml")
}

// OwnedBy is the Service whose revision and traffic are in a file that the tool
// writes, by its name; empty: it is none such.
func OwnedBy(file string) string {
	if !Own(file) || strings.HasSuffix(file, defaultsSuffix) {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(path.Base(file), ownPrefix), routeSuffix)
}
