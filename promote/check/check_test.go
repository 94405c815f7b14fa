package check

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

var update = flag.Bool("update", false, "write what the rules find into testdata/rules")

// A scene is one archive of testdata: Facts as files, and what a rule says of
// them. "from" names another archive of testdata to start from, good.txtar if
// there is none. "NAME.patch" is a JSON merge patch of the file NAME, and
// "NAME.gone" takes it away. The files below infra/ are the infra repository.
type scene struct {
	files map[string][]byte
	want  string
}

func loadScene(t testing.TB, path string) scene {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, from := scene{files: map[string][]byte{}}, "good"
	for _, f := range archive.Files {
		if f.Name == "from" {
			from = strings.TrimSpace(string(f.Data))
		}
	}
	if start := filepath.Join("testdata", from+".txtar"); start != path {
		s.files = loadScene(t, start).files
	}
	for _, f := range archive.Files {
		s.put(t, f)
	}
	return s
}

func (s *scene) put(t testing.TB, f txtar.File) {
	t.Helper()
	name, patched := strings.CutSuffix(f.Name, ".patch")
	gone, taken := strings.CutSuffix(f.Name, ".gone")
	switch {
	case f.Name == "want":
		s.want = string(f.Data)
	case f.Name == "from":
	case patched:
		s.files[name] = mergePatch(t, s.files[name], f.Data)
	case taken && s.files[gone] == nil:
		t.Fatalf("%s: there is no %s", f.Name, gone)
	case taken:
		delete(s.files, gone)
	default:
		s.files[f.Name] = f.Data
	}
}

func mergePatch(t testing.TB, original, patch []byte) []byte {
	t.Helper()
	if len(original) == 0 {
		original = []byte("{}")
	}
	a, errA := yaml.YAMLToJSON(original)
	b, errB := yaml.YAMLToJSON(patch)
	merged, errM := jsonpatch.MergePatch(a, b)
	text, errY := yaml.JSONToYAML(merged)
	if err := errors.Join(errA, errB, errM, errY); err != nil {
		t.Fatal(err)
	}
	return text
}

// facts decodes the scene.
func (s scene) facts(t testing.TB) Facts {
	t.Helper()
	var wish struct {
		Wish
		Images      []string
		Wait, Worst string
	}
	s.read(t, "wish", &wish)
	wait, err := time.ParseDuration(wish.Wait)
	if err != nil {
		t.Fatalf("wish: wait: %v", err)
	}
	worst, err := time.ParseDuration(wish.Worst)
	if err != nil {
		t.Fatalf("wish: worst: %v", err)
	}
	facts := Facts{Wish: wish.Wish, Commit: "3f9c2d1e0b5a4d7c8e9f00112233445566778899", Tree: s.tree()}
	facts.Wish.Wait, facts.Wish.Worst = wait, worst
	s.overlay(t, &facts, wish.Images)
	s.setup(t, &facts.Setup)
	if s.files["service"] != nil {
		facts.Service = new(servingv1.Service)
		s.read(t, "service", facts.Service)
	}
	s.read(t, "revisions", &facts.Revisions)
	var unread map[string]string
	s.read(t, "unread", &unread)
	facts.Unread = map[string]error{}
	for name, why := range unread {
		facts.Unread[name] = failure(why)
	}
	if why, refused := s.files["refused"]; refused {
		facts.Refused = errors.New(strings.TrimSpace(string(why)))
	}
	if why, failed := s.files["no-application"]; failed {
		facts.NoApp = failure(strings.TrimSpace(string(why)))
	}
	if reason, asked := s.files["push"]; asked {
		facts.PushAsked = true
		if text := strings.TrimSpace(string(reason)); text != "" {
			facts.Push = errors.New(text)
		}
	}
	return facts
}

// failure is an error with this text, one of argo's where it begins like that.
func failure(text string) error {
	for _, kind := range []error{argo.ErrAuth, argo.ErrNotFound} {
		if rest, found := strings.CutPrefix(text, kind.Error()); found {
			return fmt.Errorf("%w%s", kind, rest)
		}
	}
	return errors.New(text)
}

func (s scene) tree() fs.FS {
	tree := fstest.MapFS{}
	for name, data := range s.files {
		if name, ok := strings.CutPrefix(name, "infra/"); ok {
			tree[name] = &fstest.MapFile{Data: data}
		}
	}
	return tree
}

// overlay renders the overlay, with the images set and without.
func (s scene) overlay(t testing.TB, facts *Facts, images []string) {
	t.Helper()
	var err error
	if facts.Overlay, err = knative.Read(t.Context(), facts.Tree, facts.Wish.Folder, facts.Wish.Service); err != nil {
		t.Fatal(err)
	}
	facts.Next = facts.Overlay
	for _, text := range images {
		image, err := kustomize.ParseImage(text)
		if err != nil {
			t.Fatal(err)
		}
		if facts.Next, err = facts.Next.SetImages(t.Context(), []kustomize.Image{image}); err != nil {
			t.Fatal(err)
		}
	}
}

func (s scene) setup(t testing.TB, setup *argo.Setup) {
	t.Helper()
	var rest struct {
		Version   string
		Owners    []argo.App
		Can       map[string]bool
		Anonymous bool
		Expires   time.Time
		Unread    map[string]string
	}
	s.read(t, "setup", &rest)
	setup.Version, setup.Owners, setup.Can, setup.Expires = rest.Version, rest.Owners, rest.Can, rest.Expires
	setup.Anonymous = rest.Anonymous
	setup.Unread = map[string]error{}
	for name, why := range rest.Unread {
		setup.Unread[name] = failure(why)
	}
	if s.files["application"] != nil {
		setup.App = new(v1alpha1.Application)
		s.read(t, "application", setup.App)
	}
	if s.files["project"] != nil {
		setup.Project = new(v1alpha1.AppProject)
		s.read(t, "project", setup.Project)
	}
	if s.files["windows"] != nil {
		setup.Windows = new(application.ApplicationSyncWindowsResponse)
		s.read(t, "windows", setup.Windows)
	}
	s.read(t, "overrides", &setup.Overrides)
}

func (s scene) read(t testing.TB, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(s.files[name], into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestRules asks the rule that a folder of testdata/rules is named after about
// every scene in it.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, path := range scenes(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/rules/"), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := loadScene(t, path)
			got := inFull(ask(ruleOf(t, path), s.facts(t)))
			if *update {
				writeWant(t, path, got)
			} else if diff := cmp.Diff(s.want, got); diff != "" {
				t.Errorf("findings (-want +got), run with -update to take them over:\n%s", diff)
			}
		})
	}
}

// TestEveryRuleIsTried wants a scene in which a rule finds something and one
// in which it does not, for each.
func TestEveryRuleIsTried(t *testing.T) {
	t.Parallel()
	finds, silent := map[string]bool{}, map[string]bool{}
	for _, path := range scenes(t) {
		id := filepath.Base(filepath.Dir(path))
		if s := loadScene(t, path); s.want == "" {
			silent[id] = true
		} else {
			finds[id] = true
		}
	}
	for _, rule := range Rules() {
		if !finds[rule.ID] || !silent[rule.ID] {
			t.Errorf("rule %s: expected a scene in testdata/rules/%s with a finding and one without", rule.ID, rule.ID)
		}
	}
}

// TestGood has a setup that no rule may complain about.
func TestGood(t *testing.T) {
	t.Parallel()
	facts := loadScene(t, "testdata/good.txtar").facts(t)
	if findings := Run(facts); len(findings) > 0 {
		t.Errorf("found in the good setup:\n%s", inFull(findings))
	}
	if name, err := facts.Overlay.NextRevision(); err != nil || name != facts.Overlay.Revision() {
		t.Errorf("the good overlay names its revision %q, but its template asks for %q, %v", facts.Overlay.Revision(), name, err)
	}
}

// TestNothingRead has no facts at all: no rule may conclude anything, or panic.
func TestNothingRead(t *testing.T) {
	t.Parallel()
	if findings := Run(Facts{}); len(findings) > 0 {
		t.Errorf("found without any facts:\n%s", inFull(findings))
	}
}

// TestPartlyRead takes single facts out of every scene. Its rule may not count
// on one because another is there.
func TestPartlyRead(t *testing.T) {
	t.Parallel()
	for _, path := range scenes(t) {
		full := loadScene(t, path).facts(t)
		for name, drop := range map[string]func(*Facts){
			"application": func(f *Facts) { f.Setup.App = nil },
			"project":     func(f *Facts) { f.Setup.Project = nil },
			"windows":     func(f *Facts) { f.Setup.Windows = nil },
			"overrides":   func(f *Facts) { f.Setup.Overrides = nil },
			"rights":      func(f *Facts) { f.Setup.Can = nil },
			"setup":       func(f *Facts) { f.Setup = argo.Setup{} },
			"service":     func(f *Facts) { f.Service = nil },
			"revisions":   func(f *Facts) { f.Revisions = nil },
			"tree":        func(f *Facts) { f.Tree = nil },
			"overlay":     func(f *Facts) { f.Overlay, f.Next = nil, nil },
			"next":        func(f *Facts) { f.Next = nil },
			"wish":        func(f *Facts) { f.Wish = Wish{} },
		} {
			facts := full
			drop(&facts)
			for _, finding := range ask(ruleOf(t, path), facts) {
				if finding.Problem == "" || finding.Effect == "" {
					t.Errorf("%s without %s: an empty finding of %s", path, name, finding.Rule)
				}
			}
		}
	}
}

// TestRulesAreWhole checks what people read of the rules.
func TestRulesAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		switch {
		case seen[r.ID]:
			t.Errorf("two rules are named %s", r.ID)
		case r.ID == "" || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz-") != "":
			t.Errorf("rule %q: expected a name in kebab case", r.ID)
		case r.Summary == "" || strings.HasSuffix(r.Summary, ".") || strings.Contains(r.Summary, "\n"):
			t.Errorf("rule %s: expected a summary of one line without a full stop, not %q", r.ID, r.Summary)
		case !strings.HasPrefix(r.Link, "https://"):
			t.Errorf("rule %s: expected an https link, not %q", r.ID, r.Link)
		}
		seen[r.ID] = true
	}
}

// ruleOf is the rule that a scene's folder is named after.
func ruleOf(t testing.TB, path string) Rule {
	t.Helper()
	id := filepath.Base(filepath.Dir(path))
	i := slices.IndexFunc(Rules(), func(r Rule) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("%s: there is no rule %q: the folder must have the name of one", path, id)
	}
	return Rules()[i]
}

func scenes(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/rules/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// inFull is every field of the findings.
func inFull(findings []Finding) string {
	var b strings.Builder
	for i, f := range findings {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s\n", f.Severity, f.Problem)
		for _, part := range []struct{ name, text string }{
			{"effect", f.Effect}, {"evidence", f.Evidence}, {"fix", f.Fix}, {"link", f.Link},
		} {
			if part.text == "" {
				continue
			}
			fmt.Fprintf(&b, "  %s: %s\n", part.name, strings.ReplaceAll(strings.TrimSpace(part.text), "\n", "\n    "))
		}
		if f.File != "" {
			fmt.Fprintf(&b, "  at: %s:%d\n", f.File, f.Line)
		}
	}
	return b.String()
}

func writeWant(t *testing.T, path, want string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
