package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/fake/golden"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/promote/record"
)

func config(steps ...Step) Settings {
	return Settings{Steps: steps, CandidateTag: "candidate", KeepPrevious: true}
}

// Ours is what the tests plan for.
func ours() Target {
	return Target{Target: argo.Target{Service: "product-import"}, Environment: "production", Overlay: promotetest.Production}
}

func route(t *testing.T, state *knative.State, traffic ...servingv1.TrafficTarget) *knative.State {
	t.Helper()
	next, err := state.Route(t.Context(), promotetest.RevisionOf(t, state), traffic, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func target(revision string, percent int64, tag string) servingv1.TrafficTarget {
	return servingv1.TrafficTarget{RevisionName: revision, Percent: &percent, Tag: tag, LatestRevision: new(false)}
}

// RecordOf is the record of a step of a promotion.
func recordOf(step, from, to string) record.Record {
	return record.Record{
		Promotion: "00000000abcd", Overlay: promotetest.Production, Step: step, Percent: record.ShareOf(step), Base: "b0", From: record.Version{Revision: from}, To: record.Version{Revision: to},
	}
}

// passed is a record whose gates have passed.
func passed(r record.Record) record.Record {
	r.Passed = time.Unix(1, 0)
	return r
}

// A planCase is an archive of testdata/plans. A revision of the example overlay
// is named there by the tag of its image, instead of the hash of its template.
type planCase struct {
	Overlay struct { // at the tip
		Image, Traffic, Unreadable string
		Record                     *struct {
			Step, From, To, Overlay string
			Passed                  bool
		}
	}
	Live struct {
		LatestReady    string
		Unroutable     []string // revisions of targets at 0 %
		OldDown, NoOld bool     // the revision with the traffic is not Ready, or gone
	}
	Config struct{ Image, Steps string }

	names map[string]string // of revisions by their tags
}

func readPlanCase(t *testing.T, parts map[string][]byte) planCase {
	t.Helper()
	c := planCase{names: map[string]string{}}
	for name, into := range map[string]any{"overlay": &c.Overlay, "live": &c.Live, "config": &c.Config} {
		if err := yaml.UnmarshalStrict(parts[name], into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, tag := range []string{"v1.0.0", "v2.0.0", "v3.0.0"} {
		c.names[tag] = promotetest.RevisionOf(t, promotetest.SetTag(t, promotetest.Example(t), tag))
	}
	return c
}

// name is a revision's name as the overlay has it.
func (c planCase) name(revision string) string { return cmp.Or(c.names[revision], revision) }

// situation is what the plan is made from.
func (c planCase) situation(t *testing.T) Situation {
	t.Helper()
	at := Situation{Target: ours(), Tag: "candidate", Tip: gitops.Commit{Hash: "tip"}, LatestReady: c.Live.LatestReady, Unroutable: map[string]string{}}
	for _, revision := range c.Live.Unroutable {
		at.Unroutable[c.name(revision)] = "is not Ready"
	}
	switch {
	case c.Live.OldDown:
		at.OldReadiness = Readiness{Why: "is not Ready"}
	case c.Live.NoOld:
		at.OldReadiness = Readiness{Gone: true, Why: "does not exist"}
	}
	at.Now = promotetest.SetTag(t, promotetest.Example(t), c.Overlay.Image)
	if c.Overlay.Traffic != "" {
		at.Now = route(t, at.Now, c.traffic(t)...)
	}
	at.Next = promotetest.SetTag(t, at.Now, c.Config.Image)
	if c.Overlay.Unreadable != "" {
		at.Unreadable = errors.New(c.Overlay.Unreadable)
	}
	if r := c.Overlay.Record; r != nil {
		at.Record = recordOf(r.Step, c.name(r.From), c.name(r.To))
		at.Record.Overlay = cmp.Or(r.Overlay, promotetest.Production)
		if r.Passed {
			at.Record = passed(at.Record)
		}
	}
	return at
}

// traffic reads what knative.Describe writes.
func (c planCase) traffic(t *testing.T) []servingv1.TrafficTarget {
	t.Helper()
	var targets []servingv1.TrafficTarget
	for part := range strings.SplitSeq(c.Overlay.Traffic, ", ") {
		share, rest, _ := strings.Cut(part, " % ")
		revision, tag, _ := strings.Cut(strings.TrimSuffix(rest, ")"), " (")
		percent, err := strconv.Atoi(share)
		if err != nil {
			t.Fatalf("traffic %q: %v", part, err)
		}
		targets = append(targets, target(c.name(revision), int64(percent), tag))
	}
	return targets
}

// steps are those of the input of that name.
func (c planCase) steps(t *testing.T) []Step {
	t.Helper()
	var steps []Step
	for part := range strings.SplitSeq(c.Config.Steps, ",") {
		share, bake, _ := strings.Cut(part, "@")
		percent, errPercent := strconv.Atoi(share)
		length, errBake := time.ParseDuration(cmp.Or(bake, "0s"))
		if err := errors.Join(errPercent, errBake); err != nil {
			t.Fatalf("step %q: %v", part, err)
		}
		steps = append(steps, Step{Percent: percent, Bake: length})
	}
	return steps
}

// inWords is a plan as text.
func inWords(plan Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "from %q to %q base %q\n", plan.From, plan.To, plan.Base)
	for _, step := range plan.Steps {
		fmt.Fprintf(&b, "%s", step.Name)
		if step.Bake > 0 {
			fmt.Fprintf(&b, " baked %s", step.Bake)
		}
		if step.Done {
			b.WriteString(" (done)")
		}
		fmt.Fprintf(&b, ": %s\n", knative.Describe(step.Traffic))
	}
	return b.String()
}

// TestNewPlan makes the plans of testdata/plans: the part plan is the plan, or
// error says why there is none.
func TestNewPlan(t *testing.T) {
	t.Parallel()
	for _, archive := range golden.Cases(t, "testdata/plans/*.txtar") {
		t.Run(archive.Name, func(t *testing.T) {
			t.Parallel()
			c := readPlanCase(t, golden.Parts(t, archive.Path, ""))
			got := map[string]string{}
			plan, err := New(config(c.steps(t)...), c.situation(t))
			if err != nil {
				got["error"] = err.Error() + "\n"
			} else {
				got["plan"] = inWords(plan)
			}
			for part, text := range got {
				for tag, name := range c.names {
					text = strings.ReplaceAll(text, name, tag)
				}
				got[part] = text
			}
			golden.Compare(t, archive.Path, got, "plan", "error")
		})
	}
}

// TestCopiedRecord copies an overlay with its record. What was promoted there was
// not promoted here, and a generated name is of another revision.
func TestCopiedRecord(t *testing.T) {
	t.Parallel()
	now := route(t, promotetest.Example(t), target("product-import-00001", 100, ""))
	copied := passed(recordOf("100", "product-import-00001", "product-import-b"))
	copied.Overlay, copied.From.Images = "apps/product-import/overlays/staging", []string{"ghcr.io/acme/product-import:v9"}
	c := config(Step{Percent: 100})
	live := &servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: "product-import-00001"}}
	live.Spec.Containers = []corev1.Container{{Image: "ghcr.io/acme/product-import:v0.9.0"}}
	for _, test := range []struct {
		live *servingv1.Revision
		want []string
	}{{live, []string{"ghcr.io/acme/product-import:v0.9.0"}}, {nil, nil}} {
		plan, err := New(c, Situation{Target: ours(), Tag: "candidate", Now: now, Next: promotetest.SetTag(t, now, "v2.0.0"), Record: copied, Old: test.live})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(test.want, plan.FromVersion.Images) {
			t.Errorf("the old revision's images are %v, want %v", plan.FromVersion.Images, test.want)
		}
		if past := StepRecord(c, plan, "candidate", copied).Past; len(past) > 0 {
			t.Errorf("the past of another overlay is taken over: %v", past)
		}
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"ghcr.io/acme/a:v2.0.0":                       "v2.0.0",
		"localhost:5000/a":                            "no tag",
		"ghcr.io/acme/a@sha256:0123456789abcdef01234": "sha256:0123456789ab",
		"ghcr.io/acme/a:v1@sha256:0123456789abcdef":   "v1",
	} {
		if got := ImageVersion(image); got != want {
			t.Errorf("version(%q) = %q, want %q", image, got, want)
		}
	}
}
