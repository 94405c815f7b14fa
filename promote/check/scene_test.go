package check

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/policy"
	"github.com/acme/knative-promote/promote/windows"
)

// A scene is one archive of testdata: Facts as files, and what a rule says of
// them. It starts from good.txtar, or from another one that it names. The files
// below infra/ are the infra repository.
type scene map[string][]byte

func loadScene(t testing.TB, path string) scene {
	t.Helper()
	return golden.Parts(t, path, "testdata/good.txtar")
}

// scenesRead are the facts of each scene, by its path.
var scenesRead sync.Map

// factsOf are the facts of a scene, which most of a test's time goes into: it is read once for
// all tests, which change nothing behind what they get.
func factsOf(t testing.TB, path string) Facts {
	t.Helper()
	once, _ := scenesRead.LoadOrStore(path, sync.OnceValue(func() Facts { return loadScene(t, path).facts(t) }))
	return once.(func() Facts)()
}

// facts decodes the scene.
func (s scene) facts(t testing.TB) Facts {
	t.Helper()
	var request struct {
		Request
		Images      []string
		Wait, Worst string
	}
	s.read(t, "request", &request)
	wait, err := time.ParseDuration(request.Wait)
	if err != nil {
		t.Fatalf("request: wait: %v", err)
	}
	worst, err := time.ParseDuration(request.Worst)
	if err != nil {
		t.Fatalf("request: worst: %v", err)
	}
	facts := Facts{Request: request.Request, Commit: "3f9c2d1e0b5a4d7c8e9f00112233445566778899", Tree: s.tree("infra/")}
	facts.Request.Wait, facts.Request.Worst = wait, worst
	s.overlay(t, &facts, request.Images)
	s.denials(t, &facts)
	s.setup(t, &facts.Setup)
	if s["service"] != nil {
		facts.Service = new(servingv1.Service)
		s.read(t, "service", facts.Service)
	}
	s.added(t, &facts)
	facts.Recorded.File, facts.Recorded.Why, _ = strings.Cut(strings.TrimSpace(string(s["recorded"])), " ")
	s.read(t, "revisions", &facts.Revisions)
	s.read(t, "not-ready", &facts.NotReady)
	s.read(t, "missing", &facts.Missing)
	s.read(t, "waits-for-pods", &facts.WaitsForPods)
	facts.Unlisted = strings.TrimSpace(string(s["unlisted"]))
	s.windows(&facts)
	if text, exists := s["infra/"+pipeline.Name]; exists {
		facts.Pipeline.File, facts.Pipeline.Unreadable = pipeline.Parse(text, pipeline.Keys{All: []pipeline.Key{{Input: "from", Guard: true}, {Input: "soak", Guard: true}, {Input: "steps", Guard: true}, {Input: "application"}, {Input: "policies"}, {Input: "analysis"}}})
		facts.Pipeline.Unread = Unreadable(t.Context(), facts.Tree, facts.Pipeline.File)
	}
	var unread map[string]string
	s.read(t, "unread", &unread)
	facts.Unread = map[string]error{}
	for name, why := range unread {
		facts.Unread[name] = failure(why)
	}
	for line := range strings.Lines(string(s["analysis"])) {
		facts.Analysis = append(facts.Analysis, errors.New(strings.TrimSpace(line)))
	}
	if why, refused := s["refused"]; refused {
		facts.Refused = errors.New(strings.TrimSpace(string(why)))
	}
	if why, failed := s["no-application"]; failed {
		facts.NoApp = failure(strings.TrimSpace(string(why)))
	}
	if reason, asked := s["push"]; asked {
		facts.PushAsked = true
		if text := strings.TrimSpace(string(reason)); text != "" {
			facts.Push = errors.New(text)
		}
	}
	s.read(t, "namesakes", &facts.Namesakes)
	s.read(t, "otherwise", &facts.Otherwise)
	s.read(t, "rendered", &facts.Rendered)
	if s["given"] != nil {
		given := map[string]int{}
		s.read(t, "given", &given)
		facts.Given = func() map[string]int { return given }
	}
	s.read(t, "branch", &facts.Branch)
	if text, asked := s["metrics"]; asked { // the source, and on the next line why nothing is counted
		from, why, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		facts.MetricsFrom = from
		if why != "" {
			facts.Metrics = errors.New(why)
		}
	}
	if text, counted := s["latency"]; counted { // the limit, the boundaries around it, and whether they were read
		var limit, below, above string
		if _, err := fmt.Sscan(string(text), &limit, &below, &above, &facts.Latency.Scraped); err != nil {
			t.Fatalf("latency: %v", err)
		}
		for into, text := range map[*time.Duration]string{&facts.Latency.Limit: limit, &facts.Latency.Below: below, &facts.Latency.Above: above} {
			if *into, err = time.ParseDuration(text); err != nil {
				t.Fatalf("latency: %v", err)
			}
		}
	}
	return facts
}

// added are what a change brings, in lines such as: link docs/a ../b, or for a file of so many bytes: large docs/a 100.
func (s scene) added(t testing.TB, facts *Facts) {
	t.Helper()
	modes := map[string]fs.FileMode{"file": 0o644, "link": fs.ModeSymlink | 0o777, "submodule": fs.ModeIrregular, "large": 0o644}
	for line := range strings.Lines(string(s["added"])) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		path, target, _ := strings.Cut(rest, " ")
		if modes[kind] == 0 {
			t.Fatalf("added: %q: expected file, link, large or submodule", line)
		}
		n, err := strconv.Atoi(target)
		if err == nil && kind == "large" {
			facts.Added = append(facts.Added, Added{Path: path, Mode: modes[kind], Bytes: int64(n)})
			continue
		}
		if err == nil { // a long name
			path, target = path+strings.Repeat("x", n), ""
		}
		facts.Added = append(facts.Added, Added{Path: path, Mode: modes[kind], Target: target})
	}
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

// tree has the files below the folders, those of a later one in place of an earlier one's.
func (s scene) tree(folders ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for _, folder := range folders {
		for name, data := range s {
			if name, ok := strings.CutPrefix(name, folder); ok {
				tree[name] = &fstest.MapFile{Data: data}
			}
		}
	}
	return tree
}

// overlay renders the overlay, with the images set and without.
func (s scene) overlay(t testing.TB, facts *Facts, images []string) {
	t.Helper()
	var err error
	if facts.Overlay, err = knative.Read(t.Context(), facts.Tree, facts.Request.Overlay, facts.Request.Service); err != nil {
		t.Fatal(err)
	}
	if len(s.tree("before/")) > 0 {
		if facts.Before, err = knative.Read(t.Context(), s.tree("infra/", "before/"), facts.Request.Overlay, facts.Request.Service); err != nil {
			t.Fatal(err)
		}
	}
	if facts.Reads, facts.Outside, err = kustomize.Reads(t.Context(), facts.Tree, facts.Request.Overlay); err != nil {
		t.Fatal(err)
	}
	if facts.Differs, err = kustomize.Differences(t.Context(), facts.Tree, facts.Request.Overlay); err != nil {
		t.Fatal(err)
	}
	if facts.ImageEffects, err = knative.ImageEffects(t.Context(), facts.Overlay); err != nil {
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

// denials asks the policies about the overlay with the images set.
func (s scene) denials(t testing.TB, facts *Facts) {
	t.Helper()
	if len(facts.Request.Policies) == 0 {
		return
	}
	set, err := policy.Read(t.Context(), facts.Tree, facts.Request.Policies)
	if err == nil {
		facts.Policies, err = set.Evaluate(t.Context(), "production", facts.Overlay.Objects(), facts.Next.Objects())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s scene) setup(t testing.TB, setup *argo.Setup) {
	t.Helper()
	var rest struct {
		Version      string
		BuildOptions string
		Owners       []argo.App
		Others       []argo.App
		Can          map[argo.Right]bool
		Anonymous    bool
		Expires      time.Time
		Unread       map[argo.Section]string
	}
	s.read(t, "setup", &rest)
	setup.Version, setup.Owners, setup.Can, setup.Expires = rest.Version, rest.Owners, rest.Can, rest.Expires
	setup.Others = rest.Others
	setup.Anonymous, setup.BuildOptions = rest.Anonymous, rest.BuildOptions
	setup.Unread = map[argo.Section]error{}
	for part, why := range rest.Unread {
		setup.Unread[part] = failure(why)
	}
	if s["application"] != nil {
		setup.App = new(v1alpha1.Application)
		s.read(t, "application", setup.App)
	}
	if s["project"] != nil {
		setup.Project = new(v1alpha1.AppProject)
		s.read(t, "project", setup.Project)
	}
	if s["windows"] != nil {
		setup.Windows = new(application.ApplicationSyncWindowsResponse)
		s.read(t, "windows", setup.Windows)
	}
	s.read(t, "overrides", &setup.Overrides)
}

// windows are those of the infra repository for the Service, as a promotion
// reads them.
func (s scene) windows(facts *Facts) {
	const file = ".promote/windows.yaml"
	text, exists := s["infra/"+file]
	if !exists {
		return
	}
	schedule, err := windows.Parse(text)
	facts.Windows = Windows{File: file, Unreadable: err}
	if err == nil {
		facts.Windows.Named = schedule.Environments()
		facts.Windows.State = schedule.At(facts.Request.Now, facts.Request.Service, windows.Environment{Own: []string{facts.Request.Environment}})
	}
}

func (s scene) read(t testing.TB, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(s[name], into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
