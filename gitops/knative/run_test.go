package knative_test

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// run is a case under way. Its commands are the lines of the file edit:
//
//	overlay DIR     the overlay's folder, when it is not overlay
//	service NAME    the Service, when it is not the only one
//	crlf FILE       the file has CRLF line ends
//	tag TAG         the candidate's tag, when it is not candidate
//	drop            keep no previous revision
//	image REF...    the images of the steps that follow
//	also NAME...    what keeps running and may move with them
//	step PERCENT    the promotion's commit with this share for the candidate
//	back            the commit that rolls the promotion back, as a failed gate does
//	restore         the commit that rolls back all since the beginning
//	begin           the beginning is here
//	same            the repository is as it was at the beginning, byte for byte
//	file FROM TO    somebody replaces the file TO with FROM
type run struct {
	tree, begin      fstest.MapFS
	overlay, service string
	tag              string
	keep             bool
	images           []kustomize.Image
	also             []string
	from             string       // the old revision of the promotion under way
	base             fstest.MapFS // what was there before it
	cluster          *cluster
	unseen           bool // the live Service is not known
	refused          bool // the cluster did not take what the case begins with
	withoutDefaults  bool // what the cluster gets lacks the defaults file
}

// run makes all edits and tells what they made of the repository.
func (r *run) run(t testing.TB, script []string) map[string]string {
	t.Helper()
	var diff strings.Builder
	for _, line := range script {
		before := maps.Clone(r.tree)
		did, err := r.do(t, strings.Fields(line))
		if err != nil {
			got := map[string]string{"error": err.Error() + "\n"}
			if diff.Len() > 0 {
				got["diff"] = diff.String()
			}
			return got
		}
		if did != "" {
			fmt.Fprintf(&diff, "# %s: %s\n%s", line, did, changes(before, r.tree))
		}
	}
	return map[string]string{"diff": diff.String()}
}

func (r *run) do(t testing.TB, words []string) (string, error) {
	t.Helper()
	var err error
	switch words[0] {
	case "#", "crlf":
	case "overlay":
		r.overlay = words[1]
	case "service":
		r.service = words[1]
	case "tag":
		r.tag = words[1]
	case "drop":
		r.keep = false
	case "image":
		r.images, err = parseImages(words[1:])
	case "also":
		r.also = words[1:]
	case "file":
		r.tree = maps.Clone(r.tree)
		r.tree[words[2]] = r.tree[words[1]]
	case "step":
		return r.step(t, words[1])
	case "back":
		return r.rollBack(t, r.base)
	case "restore":
		r.from = ""
		return r.rollBack(t, r.begin)
	case "begin":
		r.begin = r.tree
	case "same":
		if diff := cmp.Diff(r.begin, r.tree); diff != "" {
			t.Errorf("not as at the beginning (-begin +end):\n%s", diff)
		}
	default:
		t.Fatalf("unknown command %q", words)
	}
	return "", err
}

// step is one commit of a promotion, made as package promote makes it.
func (r *run) step(t testing.TB, share string) (string, error) {
	t.Helper()
	percent, err := strconv.Atoi(share)
	if err != nil {
		t.Fatal(err)
	}
	now, err := r.read(t)
	if err != nil {
		return "", err
	}
	if err := knative.CheckOwn(now); err != nil {
		return "", err
	}
	next := now
	if len(r.images) > 0 {
		if next, err = now.SetImages(t.Context(), r.images); err != nil {
			return "", err
		}
	}
	expected, err := r.plan(now, next, percent)
	if err != nil {
		return "", err
	}
	after, err := next.Route(t.Context(), expected.Revision, expected.Traffic, nil, r.live())
	if err != nil {
		return "", err
	}
	if r.unseen && now.Revision() == expected.Revision {
		seen, err := next.Route(t.Context(), expected.Revision, expected.Traffic, nil, r.cluster.known())
		if err != nil || string(seen.Manifest) != string(after.Manifest) {
			t.Errorf("the live Service, with Knative's own defaults, makes a difference (-without +with): %v\n%s", err, cmp.Diff(string(after.Manifest), string(seen.Manifest)))
		}
	}
	return r.commit(t, now, after, expected)
}

// plan is what a step must show.
func (r *run) plan(now, next *knative.State, percent int) (knative.Expected, error) {
	to, err := next.NextRevision()
	if err != nil {
		return knative.Expected{}, err
	}
	traffic, err := now.Traffic()
	if err != nil {
		return knative.Expected{}, err
	}
	split, err := knative.ReadSplit(traffic, r.tag, knative.MovingTags(now, r.tag))
	if err != nil {
		return knative.Expected{}, err
	}
	if split.Stable == "" {
		split.Stable = now.Service() + "-00001"
	}
	if split.Candidate == "" {
		r.from, r.base = split.Stable, r.tree
	}
	split.Candidate, split.Percent = to, percent
	return knative.Expected{Images: r.images, Revision: to, Traffic: split.Targets(r.tag, r.keep)}, nil
}

// rollBack restores an earlier tree. An overlay without a promotion gets the
// old revision by name, where there is one.
func (r *run) rollBack(t testing.TB, tree fstest.MapFS) (string, error) {
	t.Helper()
	now, err := r.read(t)
	if err != nil {
		return "", err
	}
	then, err := knative.Read(t.Context(), tree, r.overlay, r.service)
	if err != nil {
		return "", err
	}
	next, err := now.RestoreImages(t.Context(), then)
	if err != nil {
		return "", err
	}
	expected := knative.Expected{Revision: then.Revision()}
	if expected.Traffic, err = then.Traffic(); err != nil {
		return "", err
	}
	after := next
	if then.Owned() || r.from == "" {
		after, err = next.RestoreRoute(t.Context(), then, nil)
	} else {
		expected.Revision, expected.Traffic = r.from, knative.Split{Stable: r.from}.Targets(r.tag, r.keep)
		after, err = next.Route(t.Context(), r.from, expected.Traffic, nil, nil)
	}
	if err != nil {
		return "", err
	}
	return r.commit(t, now, after, expected)
}

// commit checks an edit and brings it to the repository and the cluster.
func (r *run) commit(t testing.TB, now, after *knative.State, expected knative.Expected) (string, error) {
	t.Helper()
	expected.Also = r.also
	if err := knative.Check(now, after, expected); err != nil {
		return "", err
	}
	files, err := after.Files()
	if err != nil {
		return "", err
	}
	r.tree = maps.Clone(r.tree)
	for name, content := range files {
		if content == nil {
			delete(r.tree, name)
		} else {
			r.tree[name] = &fstest.MapFile{Data: content, Mode: 0o644}
		}
	}
	again, err := knative.Read(t.Context(), r.tree, r.overlay, r.service)
	if err != nil || string(again.Manifest) != string(after.Manifest) {
		t.Fatalf("the files render something else than the edit: %v", err)
	}
	if err := r.sync(t, again); err != nil {
		return "", fmt.Errorf("the cluster: %w", err)
	}
	if changed, err := again.Changed(r.cluster.known()); err != nil || len(changed) > 0 {
		t.Errorf("what was just applied is said to have changed: %q, %v", changed, err)
	}
	if fits, err := again.Fits(&servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: "another"}, Spec: r.cluster.known().Spec.Template.Spec}, r.cluster.known()); err != nil || !fits {
		t.Errorf("the revision of what was just applied is said to be another template's: %v", err)
	}
	return knative.Describe(expected.Traffic), nil
}

func (r *run) read(t testing.TB) (*knative.State, error) {
	t.Helper()
	state, err := knative.Read(t.Context(), r.tree, r.overlay, r.service)
	if err == nil && r.cluster.live == nil && !r.refused {
		r.refused = r.sync(t, state) != nil
	}
	return state, err
}

// sync brings the overlay to the cluster.
func (r *run) sync(t testing.TB, state *knative.State) error {
	t.Helper()
	if r.withoutDefaults {
		tree, err := withoutDefaults(r.tree, r.overlay, state.Service())
		if err != nil {
			return err
		}
		if state, err = knative.Read(t.Context(), tree, r.overlay, r.service); err != nil {
			return err
		}
	}
	err := r.cluster.apply(state.Manifest, state.Service())
	if err != nil {
		err = errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return err
}

// live is the Service as Argo CD shows it, where it is known.
func (r *run) live() *servingv1.Service {
	if r.unseen {
		return nil
	}
	return r.cluster.known()
}
