package argo

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write what Judge says into testdata/judge")

// A situation is one archive of testdata/judge: an intent, what was observed, and the
// wanted verdict. "from" names another archive to start from, "NAME.patch" is a JSON
// merge patch of its file NAME, and "NAME.gone" takes the file away. The archives whose
// names begin with "recorded" are from a real Argo CD 2.14 and Knative 1.15.
type situation struct {
	files map[string][]byte
}

func loadSituation(t testing.TB, path string) situation {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := situation{files: map[string][]byte{}}
	for _, f := range archive.Files {
		if f.Name == "from" {
			s = loadSituation(t, filepath.Join(filepath.Dir(path), strings.TrimSpace(string(f.Data))+".txtar"))
			delete(s.files, "want")
		}
	}
	for _, f := range archive.Files {
		name, patched := strings.CutSuffix(f.Name, ".patch")
		gone, taken := strings.CutSuffix(f.Name, ".gone")
		switch {
		case patched:
			s.files[name] = mergePatch(t, s.files[name], f.Data)
		case taken:
			delete(s.files, gone)
		case name != "from":
			s.files[name] = f.Data
		}
	}
	return s
}

func mergePatch(t testing.TB, original, patch []byte) []byte {
	t.Helper()
	if len(original) == 0 {
		original = []byte("{}")
	}
	a, errA := yaml.YAMLToJSON(original)
	b, errB := yaml.YAMLToJSON(patch)
	merged, err := jsonpatch.MergePatch(a, b)
	if errA != nil || errB != nil || err != nil {
		t.Fatal(errA, errB, err)
	}
	return merged
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
	}
	s.read(t, "intent", &in)
	s.read(t, "observed", &observed)
	ob.Relation, ob.Operation = observed.Relation, observed.Operation
	before := Memory{UID: "8381b027-d232-43d0-a606-8f807c7cb356", Trouble: observed.Trouble, Note: observed.Note}
	before.TroubleFor, _ = time.ParseDuration(observed.For)
	if s.files["application"] != nil {
		ob.App = new(v1alpha1.Application)
		s.read(t, "application", ob.App)
	}
	if s.files["service"] != nil {
		ob.Service = new(servingv1.Service)
		s.read(t, "service", ob.Service)
	}
	if s.files["revision"] != nil {
		ob.Revision = new(servingv1.Revision)
		s.read(t, "revision", ob.Revision)
	}
	return in, ob, before
}

func (s situation) read(t testing.TB, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(s.files[name], into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/judge/*.txtar")
	if err != nil || len(paths) < 40 {
		t.Fatalf("found %d situations, %v: expected at least 40", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := loadSituation(t, path)
			v := Judge(s.decode(t))
			got := v.State.String() + "\n" + v.Reason + "\n"
			if v.Trouble != "" {
				got = v.State.String() + ", trouble " + v.Trouble + "\n" + v.Reason + "\n"
			}
			if *update {
				writeWant(t, path, got)
			} else if diff := cmp.Diff(string(s.files["want"]), got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func writeWant(t *testing.T, path, want string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var files []txtar.File
	for _, f := range archive.Files {
		if f.Name != "want" {
			files = append(files, f)
		}
	}
	archive.Files = append(files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzJudge feeds Judge with anything that decodes.
func FuzzJudge(f *testing.F) {
	paths, _ := filepath.Glob("testdata/judge/*.txtar")
	for _, path := range paths {
		s := loadSituation(f, path)
		var seed [5][]byte
		for i, name := range []string{"intent", "application", "service", "revision", "observed"} {
			seed[i], _ = yaml.YAMLToJSON(s.files[name])
		}
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, intent, application, service, revision, observed []byte) {
		var in Intent
		ob := Observed{App: new(v1alpha1.Application), Service: new(servingv1.Service), Revision: new(servingv1.Revision)}
		var rest struct {
			Relation, Operation Relation
			Memory
		}
		for data, into := range map[*[]byte]any{&intent: &in, &application: ob.App, &service: ob.Service, &revision: ob.Revision, &observed: &rest} {
			if json.Unmarshal(*data, into) != nil {
				t.Skip() // nothing that could have been decoded
			}
		}
		ob.Relation, ob.Operation = rest.Relation, rest.Operation
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
