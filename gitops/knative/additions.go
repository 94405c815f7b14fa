package knative

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/jsonpointer"
)

// additions lists what a template, have as it is written, must name itself: the
// fields that defaulting changes, and inside of lists those that it adds too.
// Outside of lists an added field survives the next apply. Bare is have, and
// want is have with its defaults, both as Go's types write them, so that a
// spelling such as 1000m for 1 makes no difference.
func additions(at string, have, bare, want any, inList bool) []operation {
	if equal(bare, want) {
		return nil
	}
	switch want := want.(type) {
	case map[string]any:
		if have, ok := have.(map[string]any); ok {
			bare, _ := bare.(map[string]any)
			return mapAdditions(at, have, bare, want, inList)
		}
	case []any:
		if have, ok := have.([]any); ok {
			bare, _ := bare.([]any)
			return listAdditions(at, have, bare, want)
		}
	}
	value, ok := known(at, want)
	if !ok && value == nil {
		return nil
	}
	return []operation{{Op: "add", Path: at, Value: value}}
}

func mapAdditions(at string, have, bare, want map[string]any, inList bool) []operation {
	var ops []operation
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, there := have[key]
		if there || inList {
			ops = append(ops, additions(at+jsonpointer.Join(key), value, bare[key], want[key], inList)...)
		}
	}
	return ops
}

func listAdditions(at string, have, bare, want []any) []operation {
	if len(have) != len(want) || len(bare) != len(want) {
		return nil
	}
	var ops []operation
	for i := range want {
		ops = append(ops, additions(at+jsonpointer.Join(i), have[i], bare[i], want[i], true)...)
	}
	return ops
}

// defaulted are the fields that Knative gives a default, with its built-in
// settings or with a cluster's. Nothing else of a live Service may get into
// Git: other webhooks write there too, and what they write can be secret.
// https://github.com/knative/serving/blob/main/pkg/apis/serving/v1/revision_defaults.go
var defaulted = regexp.MustCompile(`^` + templateSpec + `/(` + strings.Join([]string{
	`timeoutSeconds|responseStartTimeoutSeconds|idleTimeoutSeconds|containerConcurrency|enableServiceLinks`,
	container + `name`,
	container + `resources/(requests|limits)/(cpu|memory|ephemeral-storage)`,
	container + `volumeMounts/\d+/readOnly`,
	container + probe + `(initialDelaySeconds|timeoutSeconds|periodSeconds|successThreshold|failureThreshold)`,
	container + probe + `tcpSocket/(host|port)`,
	container + probe + `httpGet/(path|port|host|scheme)`,
	container + probe + `grpc/(port|service)`,
	container + `securityContext/(allowPrivilegeEscalation|runAsNonRoot|seccompProfile/type)`,
	container + `securityContext/capabilities/(add|drop)/\d+`,
}, `|`) + `)$`)

const (
	container = `(?:containers|initContainers)/\d+/`
	probe     = `(?:readinessProbe|livenessProbe|startupProbe)/`
)

// known is what of a value consists of fields that Knative gives a default,
// and whether that is all of it.
func known(at string, value any) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		part, all := map[string]any{}, len(value) > 0
		for key := range value {
			v, ok := known(at+jsonpointer.Join(key), value[key])
			if all = all && ok; v != nil {
				part[key] = v
			}
		}
		if len(part) == 0 {
			return nil, false
		}
		return part, all
	case []any:
		for i := range value {
			if _, ok := known(at+jsonpointer.Join(i), value[i]); !ok {
				return nil, false
			}
		}
		return value, len(value) > 0
	case nil:
		return nil, false
	}
	if !defaulted.MatchString(at) {
		return nil, false
	}
	return value, true
}
