package argo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/fake/golden"
)

const situations = "testdata/judge/*.txtar"

// A situation is one archive of testdata/judge: an intent, what was observed, and the
// wanted verdict. It may start from another one. The archives whose names begin with
// "recorded" are from a real Argo CD 2.14 and Knative 1.15.
type situation map[string][]byte

func loadSituation(t testing.TB, path string) situation {
	t.Helper()
	return golden.Parts(t, path, "")
}

func (s situation) decode(t testing.TB) (Intent, Observed, Memory) {
	t.Helper()
	var in Intent
	var ob Observed
	var observed struct {
		Relation  Relation
		Operation Relation
		Trouble   string
		For       string
		Note      string
		Earlier   bool
	}
	s.read(t, "intent", &in)
	s.read(t, "observed", &observed)
	ob.Relation, ob.Operation, ob.Earlier = observed.Relation, observed.Operation, observed.Earlier
	before := Memory{UID: "8381b027-d232-43d0-a606-8f807c7cb356", Trouble: observed.Trouble, Note: observed.Note}
	before.TroubleFor, _ = time.ParseDuration(observed.For)
	if s["application"] != nil {
		ob.App = new(v1alpha1.Application)
		s.read(t, "application", ob.App)
	}
	if s["service"] != nil {
		ob.Service = new(servingv1.Service)
		s.read(t, "service", ob.Service)
	}
	if s["revision"] != nil {
		ob.Revision = new(servingv1.Revision)
		s.read(t, "revision", ob.Revision)
	}
	return in, ob, before
}

func (s situation) read(t testing.TB, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(s[name], into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	if found := len(golden.Cases(t, situations)); found < 40 {
		t.Fatalf("found %d situations: expected at least 40", found)
	}
	golden.Run(t, situations, "want", func(t *testing.T, parts map[string][]byte) string {
		v := Judge(situation(parts).decode(t))
		if v.Trouble != "" {
			return v.State.String() + ", trouble " + v.Trouble + "\n" + v.Reason + "\n"
		}
		return v.State.String() + "\n" + v.Reason + "\n"
	})
}

// FuzzJudge feeds Judge with anything that decodes.
func FuzzJudge(f *testing.F) {
	for _, c := range golden.Cases(f, situations) {
		s := loadSituation(f, c.Path)
		var seed [5][]byte
		for i, name := range []string{"intent", "application", "service", "revision", "observed"} {
			seed[i], _ = yaml.YAMLToJSON(s[name])
		}
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, intent, application, service, revision, observed []byte) {
		var in Intent
		ob := Observed{App: new(v1alpha1.Application), Service: new(servingv1.Service), Revision: new(servingv1.Revision)}
		var rest struct {
			Relation, Operation Relation
			Earlier             bool
			Memory
		}
		for data, into := range map[*[]byte]any{&intent: &in, &application: ob.App, &service: ob.Service, &revision: ob.Revision, &observed: &rest} {
			if json.Unmarshal(*data, into) != nil {
				t.Skip() // nothing that could have been decoded
			}
		}
		ob.Relation, ob.Operation, ob.Earlier = rest.Relation, rest.Operation, rest.Earlier
		if string(service) == "null" {
			ob.Service = nil
		}
		if string(revision) == "null" {
			ob.Revision = nil
		}
		v := Judge(in, ob, rest.Memory)
		if err := sane(in, ob, v); err != nil {
			t.Fatalf("%v: %v", v, err)
		}
	})
}

// sane is what holds for every verdict.
func sane(in Intent, ob Observed, v Verdict) error {
	switch {
	case v.State < Wait || v.State > Superseded:
		return fmt.Errorf("no such state")
	case v.Reason == "":
		return fmt.Errorf("no reason")
	case v.Trouble != "" && v.State != Wait && v.State != Failed:
		return fmt.Errorf("troubled and %s", v.State)
	case v.State != Live:
		return nil
	case !ob.Relation.ours() || ob.App.DeletionTimestamp != nil:
		return fmt.Errorf("live, but not the commit's application")
	case ob.App.Operation != nil && (ob.Relation != Carrying || syncRevision(in, ob.App) == in.Commit):
		return fmt.Errorf("live, while the commit is being synced")
	case ob.Service == nil || ob.Service.Generation != ob.Service.Status.ObservedGeneration:
		return fmt.Errorf("live, but the Service is not at its generation")
	case strings.ContainsFunc(v.Reason, unicode.IsControl):
		return fmt.Errorf("control characters in the reason")
	case !sameRouting(ob.Service.Spec.Traffic, in.Traffic):
		return fmt.Errorf("live, but with other traffic")
	case in.TrafficOnly && !ob.Service.Status.GetCondition(servingv1.ServiceConditionRoutesReady).IsTrue():
		return fmt.Errorf("live, but the routes are not ready")
	case in.TrafficOnly:
		return nil
	case !ob.Service.IsReady():
		return fmt.Errorf("live, but the Service is not ready")
	case in.Revision != "" && ob.Service.Spec.Template.Name != in.Revision:
		return fmt.Errorf("live, but with another template")
	case ob.Revision == nil || !ob.Revision.IsReady():
		return fmt.Errorf("live, but the Revision is not ready")
	}
	return nil
}
