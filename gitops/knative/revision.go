package knative

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// The length of a revision's name: a DNS label. Knative wants it to begin with
// the Service's name and a dash.
const (
	maxName = 63
	maxHash = 8
	minHash = 5
)

// maxTaken is how many names of a template, one after another, may be another one's.
const maxTaken = 8

// revisionName is the Service's name and a hash of its template. The same
// template has the same name, any other template another one, because Knative
// refuses a changed template under an old name. The template's own name is
// not part of the hash. Where so many names of the template are taken already, it is
// the next one.
func revisionName(service object, taken int) (string, error) {
	name := service.text("metadata", "name")
	length := min(maxHash, maxName-len(name)-1)
	if length < minHash {
		return "", fmt.Errorf("the name of Service %s has %d characters, which leaves no room for a revision's name; it may have %d",
			name, len(name), maxName-minHash-1)
	}
	template, _ := service.at("spec", "template").(map[string]any)
	template = maps.Clone(template)
	if metadata, ok := template["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "name")
		delete(metadata, "creationTimestamp")
		template["metadata"] = metadata
		if len(metadata) == 0 {
			delete(template, "metadata")
		}
	}
	canonical, err := json.Marshal(template) // map keys come out sorted
	if err != nil {
		return "", fmt.Errorf("hashing the template of %s: %w", name, err)
	}
	if taken > 0 {
		canonical = fmt.Appendf(canonical, "\n%d", taken)
	}
	sum := sha256.Sum256(canonical)
	return name + "-" + hex.EncodeToString(sum[:])[:length], nil
}

// takenBefore is how many names of a template come before a name; below zero: it is none of them.
func takenBefore(service object, name string) (int, error) {
	for n := range maxTaken {
		switch next, err := revisionName(service, n); {
		case err != nil:
			return -1, err
		case next == name:
			return n, nil
		}
	}
	return -1, nil
}

// AfterTaken is the name of a revision of the template, where Knative has the first one that it
// would have for another template: what completes templates in the cluster, such as an admission
// webhook, has changed since that one was made.
func AfterTaken(s *State, taken string) (string, error) {
	n, err := takenBefore(s.plain, taken)
	if err != nil {
		return "", err
	}
	return revisionName(s.plain, n+1)
}

// NameTaken tells whether Knative says of a live Service that there is a revision already with the
// name and not the fields of its template
// (https://github.com/knative/serving/blob/knative-v1.15.2/pkg/apis/serving/v1/service_lifecycle.go).
func NameTaken(live *servingv1.Service) bool {
	return live != nil && live.Status.GetCondition(servingv1.ServiceConditionRoutesReady).GetReason() == "RevisionNameTaken"
}

// sameForm tells whether a revision's name has the form of one that the tool
// has given: as long, and with a hash at its end.
func sameForm(revision, ours string) bool {
	dash := strings.LastIndex(ours, "-")
	return len(revision) == len(ours) && revision[:dash] == ours[:dash] &&
		regexp.MustCompile(`^-[0-9a-f]+$`).MatchString(revision[dash:]) && !Generated(revision)
}

var numbered = regexp.MustCompile(`-[0-9]{5}$`)

// Generated tells whether a revision's name is one that Knative gives: it ends with a number of five digits.
func Generated(revision string) bool { return numbered.MatchString(revision) }
