package promotetest

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

const (
	plain    = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\nspec: {template: {spec: {containers: [{image: a}]}}}\n"
	images   = "# ours\nimages:\n  - name: a\n    newTag: v1\nnamespace: x\nresources: [service.yaml]\n"
	patched  = "# ours\nimages:\n  - name: a\n    newTag: v2\npatches:\n  - path: knative-promote-s.yaml\nnamespace: x\nresources: [service.yaml]\n"
	at10     = "    - {revisionName: s-1, percent: 90, latestRevision: false}\n    - {revisionName: s-2, percent: 10, latestRevision: false, tag: candidate}\n"
	ownFile  = "o/knative-promote-s.yaml"
	imagesOf = "o/kustomization.yaml"
)

// owned is the overlay's own file with this traffic.
func owned(targets string) string {
	return "# step: one\napiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\nspec:\n  traffic:\n" + targets
}

// A step is a commit of the history under test.
type step struct {
	trailers string // lines
	files    map[string]string
	gone     string   // a file that it takes away
	parents  []string // nil: the commit before
	ready    []string // nil: both revisions
}

// first is the first commit of a promotion as it should be, with changes.
func first(change func(*step)) step {
	s := step{trailers: trailers("10"), files: map[string]string{ownFile: owned(at10), imagesOf: patched}}
	change(&s)
	return s
}

func trailers(step string) string {
	return "Promotion: id1\nPromotion-Service: s\nPromotion-Overlay: o\nPromotion-From: s-1\nPromotion-Step: " + step
}

// restore are the trailers of one.
func restore(from, to string) string {
	return strings.Replace(trailers("restore"), "From: s-1", "From: "+from, 1) + "\nPromotion-To: " + to
}

// with is a step in which this file is so.
func with(name, text string) func(*step) {
	return func(s *step) { s.files[name] = text }
}

// both is a step of another promotion too, in the overlay p, that changes this
// file as well.
func both(name string) func(*step) {
	return func(s *step) {
		s.trailers += "\nPromotion: id2\nPromotion-Service: s\nPromotion-Overlay: p\nPromotion-Step: 10"
		s.files[name] = "x"
	}
}

// windowed is somebody's commit of a file of windows.
func windowed(text string) step {
	return step{files: map[string]string{".promote/windows.yaml": text}}
}

func good(*step) {}

// history is a branch that begins with a Service and has these steps on it.
func history(steps ...step) History {
	h := History{Service: "s", Overlay: "o", Ready: map[string][]string{}}
	files := fstest.MapFS{"o/service.yaml": {Data: []byte(plain)}, imagesOf: {Data: []byte(images)}}
	h.Commits = []Commit{{Hash: "0", Subject: "Begin", Files: files}}
	for i, s := range steps {
		files = maps.Clone(files)
		for name, text := range s.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		delete(files, s.gone)
		c := Commit{Hash: fmt.Sprint(i + 1), Subject: "s: to " + fmt.Sprint(i+1), Parents: []string{fmt.Sprint(i)}, Files: files}
		if s.parents != nil {
			c.Parents = s.parents
		}
		c.say(s.trailers)
		h.Ready[c.Hash] = s.ready
		if s.ready == nil {
			h.Ready[c.Hash] = []string{"s-1", "s-2"}
		}
		h.Commits = append(h.Commits, c)
	}
	return h
}

// TestBreaks has, for each promise, a history that breaks it and one that is
// next to it and does not.
func TestBreaks(t *testing.T) {
	t.Parallel()
	said := "# step: one\n# passed: now\n" + strings.TrimPrefix(owned(at10), "# step: one\n")
	for name, test := range map[string]struct {
		steps []step
		want  string
	}{
		"good":       {[]step{first(good)}, ""},
		"sum":        {[]step{first(with(ownFile, owned(strings.Replace(at10, "90", "85", 1))))}, "the traffic sums to 95"},
		"share":      {[]step{first(with(ownFile, owned(strings.Replace(at10, "90", "89.5", 1))))}, "89.5 % is no whole percentage"},
		"negative":   {[]step{first(with(ownFile, owned(strings.NewReplacer("90", "-10", "10", "110").Replace(at10))))}, "-10 % is no whole percentage"},
		"no traffic": {[]step{first(with(ownFile, "# none\n"+plain))}, "the traffic sums to 0"},
		"latest":     {[]step{first(with(ownFile, owned("    - {latestRevision: true, percent: 100}\n")))}, "100 % go to a revision without a name"},
		"renders":    {[]step{first(with("o/service.yaml", "x"))}, "does not render"},

		"not ready":                   {[]step{first(func(s *step) { s.ready = []string{"s-1"} })}, "10 % go to s-2, which had not been ready"},
		"first deployment":            {[]step{first(func(s *step) { s.ready, s.trailers = []string{}, without(s.trailers, "Promotion-From") })}, ""},
		"not the first":               {[]step{first(func(s *step) { s.ready, s.trailers = []string{"s-1"}, without(s.trailers, "Promotion-From") })}, "10 % go to s-2"},
		"rollback creates a revision": {[]step{first(func(s *step) { s.ready, s.trailers = []string{"s-1"}, trailers("rollback") })}, ""},

		"restore under another name": {[]step{first(func(s *step) { s.ready, s.trailers = []string{"s-1"}, restore("s-3", "s-00001") })}, ""},
		"restore to what failed":     {[]step{first(func(s *step) { s.ready, s.trailers = []string{"s-1"}, restore("s-2", "s-00001") })}, "10 % go to s-2, which had not been ready"},

		"outside":            {[]step{first(with("other/file", "x"))}, "changes other/file outside the overlay"},
		"two overlays":       {[]step{first(both("p/file"))}, ""},
		"beside both":        {[]step{first(both("other/file"))}, "changes other/file outside the overlay"},
		"other file":         {[]step{first(with("o/service.yaml", plain+"# more\n"))}, "changes o/service.yaml"},
		"deleted":            {[]step{{files: map[string]string{"o/more": "x"}}, first(func(s *step) { s.gone = "o/more" })}, "changes o/more"},
		"neighbour's":        {[]step{{files: map[string]string{"o/knative-promote-t.defaults.yaml": "x"}}, first(func(s *step) { s.gone = "o/knative-promote-t.defaults.yaml" })}, "changes o/knative-promote-t.defaults.yaml"},
		"neighbour's misfit": {[]step{{files: map[string]string{"o/knative-promote-t.defaults.yaml": "x", imagesOf: images + "patches:\n- path: knative-promote-t.defaults.yaml\n"}}, first(func(s *step) { s.gone = "o/knative-promote-t.defaults.yaml" })}, ""},
		"defaults":           {[]step{first(with("o/knative-promote-s.defaults.yaml", "x: y\n"))}, ""},
		"other key":          {[]step{first(with(imagesOf, strings.Replace(patched, "namespace: x", "namespace: y", 1)))}, "outside images and patches"},
		"comment":            {[]step{first(with(imagesOf, strings.Replace(patched, "# ours\n", "", 1)))}, "outside images and patches"},
		"image again":        {[]step{first(good), {trailers: trailers("50"), files: map[string]string{imagesOf: strings.Replace(patched, "v2", "v3", 1)}}}, "changes o/kustomization.yaml again"},
		"image, reverted":    {[]step{first(good), {files: map[string]string{imagesOf: images}}, {trailers: trailers("50"), files: map[string]string{imagesOf: patched}}}, ""},
		"image again, back":  {[]step{first(good), {trailers: trailers("restore"), files: map[string]string{imagesOf: strings.Replace(patched, "v2", "v1", 1)}}}, ""},

		"twice":       {[]step{first(good), {trailers: trailers("10"), files: map[string]string{ownFile: owned(at10) + "# x\n"}}}, "is step 10 of the promotion id1 too"},
		"taken back":  {[]step{first(good), {files: map[string]string{ownFile: "# reverted\n" + owned(at10)}}, {trailers: trailers("10")}}, ""},
		"not taken":   {[]step{first(good), {files: map[string]string{"x": "y"}}, {trailers: trailers("10")}}, "is step 10 of the promotion id1 too"},
		"two steps":   {[]step{first(good), {trailers: trailers("50")}}, ""},
		"passed":      {[]step{first(good), {trailers: trailers("10") + "\nPromotion-Passed: now", files: map[string]string{ownFile: said}}}, ""},
		"passed, not": {[]step{first(good), {trailers: trailers("10") + "\nPromotion-Passed: now", files: map[string]string{ownFile: said, "o/knative-promote-s.defaults.yaml": ""}}}, "says that gates have passed, and changes"},
		"passed, but": {[]step{first(good), {trailers: trailers("10") + "\nPromotion-Passed: now", files: map[string]string{ownFile: owned(strings.Replace(strings.Replace(at10, "90", "80", 1), "10", "20", 1))}}}, "changes more than comments"},

		"stopped":                                 {[]step{windowed("stop: {reason: x}"), first(good)}, "was made in a freeze: the line is stopped: x (line 1)"},
		"stopped for others":                      {[]step{windowed("stop: {reason: x, services: [t]}"), first(good)}, ""},
		"stopped badly":                           {[]step{windowed("stop: {}"), first(good)}, "was made on windows that cannot be read: line 1: stop: the reason is missing"},
		"stopped, overridden":                     {[]step{windowed("stop: {reason: x, override: true}"), first(func(s *step) { s.trailers += "\nPromotion-Override: freeze" })}, ""},
		"stopped, then passed":                    {[]step{first(good), windowed("stop: {reason: x}"), {trailers: trailers("10") + "\nPromotion-Passed: now", files: map[string]string{ownFile: said}}}, ""},
		"stopped, then restored":                  {[]step{first(good), windowed("stop: {reason: x}"), {trailers: trailers("restore"), files: map[string]string{ownFile: owned(strings.Replace(strings.Replace(at10, "90", "100", 1), "10,", "0,", 1))}}}, ""},
		"stopped, then ended by the old revision": {[]step{windowed("stop: {reason: x}"), first(func(s *step) { s.trailers += "\nPromotion-To: s-1" })}, ""},

		"merge":        {[]step{first(func(s *step) { s.parents = []string{"0", "0"} })}, "it has 2 parents"},
		"orphan":       {[]step{first(func(s *step) { s.parents = []string{"x"} })}, "its parent x is not in the branch"},
		"no step":      {[]step{first(func(s *step) { s.trailers = without(s.trailers, "Promotion-Step") })}, "it has no trailer Promotion-Step"},
		"no Service":   {[]step{first(func(s *step) { s.trailers = without(s.trailers, "Promotion-Service") })}, `Promotion-Service is "", not "s"`},
		"other place":  {[]step{first(func(s *step) { s.trailers = strings.Replace(s.trailers, "Overlay: o", "Overlay: p", 1) })}, `Promotion-Overlay is "p", not "o"`},
		"hidden place": {[]step{first(func(s *step) { s.trailers = strings.Replace(s.trailers, "Overlay: o", "Overlay: ***", 1) })}, ""},
		"foreign":      {[]step{{files: map[string]string{"x": "y", imagesOf: patched}}}, ""},
		"foreign sums": {[]step{first(good), {files: map[string]string{ownFile: owned(at10 + at10)}}}, "the traffic sums to 200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := history(test.steps...).Check(t.Context())
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// without is some trailers without one.
func without(trailers, name string) string {
	var kept []string
	for line := range strings.SplitSeq(trailers, "\n") {
		if !strings.HasPrefix(line, name+":") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// TestLostForeignCommit looks that a commit of somebody else is missed.
func TestLostForeignCommit(t *testing.T) {
	t.Parallel()
	h := history(first(good), step{files: map[string]string{"x": "y"}})
	h.Foreign = []string{"2"}
	if own, err := h.Check(t.Context()); own != 1 || err != nil {
		t.Errorf("%d own commits, %v", own, err)
	}
	h.Foreign = []string{"3"}
	if _, err := h.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "the foreign commit 3 is not in the branch any more") {
		t.Errorf("got %v, want a lost commit", err)
	}
}

// TestShared has a commit of another Service, which is judged unless the
// repository is shared, and readiness that nobody looked at.
func TestShared(t *testing.T) {
	t.Parallel()
	h := history(first(good))
	h.Overlay = "p"
	if _, err := h.Check(t.Context()); err == nil {
		t.Error("another overlay's promotion passes")
	}
	h.Shared = true
	if own, err := h.Check(t.Context()); own != 0 || err != nil {
		t.Errorf("%d own commits, %v", own, err)
	}
	h = history(first(func(s *step) { s.ready = []string{"s-1"} }))
	h.Ready = nil
	if own, err := h.Check(t.Context()); own != 1 || err != nil {
		t.Errorf("%d own commits, %v", own, err)
	}
}

// TestCommits reads a branch back from a bare repository.
func TestCommits(t *testing.T) {
	t.Parallel()
	dir, err := gittest.Repository{}.Init(t.TempDir(), "infra.git", fstest.MapFS{"a/b": {Data: []byte("x\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := gittest.Commit(dir, "main", "Next\n\nPromotion: id1\nPromotion-Reason: it\n is long\n", fstest.MapFS{"c": {Data: nil}}); err != nil {
		t.Fatal(err)
	}
	commits, err := Commits(dir, "main")
	if err != nil || len(commits) != 2 {
		t.Fatalf("%d commits, %v", len(commits), err)
	}
	next := commits[1]
	if next.Subject != "Next" || len(next.Parents) != 1 || next.Parents[0] != commits[0].Hash || len(commits[0].Parents) != 0 {
		t.Errorf("got %+v after %+v", next, commits[0])
	}
	if got := next.Trailers["Promotion"] + ", " + next.Trailers["Promotion-Reason"]; got != "id1, it is long" {
		t.Errorf("trailers %q", got)
	}
	if len(next.Files) != 2 || string(next.Files["a/b"].Data) != "x\n" || len(commits[0].Files) != 1 {
		t.Errorf("files %v after %v", next.Files, commits[0].Files)
	}
}
