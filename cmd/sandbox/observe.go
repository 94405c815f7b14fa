package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// state is the overlay at one commit.
type state struct {
	commit, subject string
	manifest        string
	traffic         []servingv1.TrafficTarget
}

// tip reads the overlay at the branch's tip.
func (w *world) tip(ctx context.Context) (state, error) {
	at, err := w.repo.Tip(ctx)
	if err != nil {
		return state{}, err
	}
	return read(ctx, at)
}

func read(ctx context.Context, at gitops.Snapshot) (state, error) {
	rendered, err := knative.Read(ctx, at.Tree, overlay, service)
	if err != nil {
		return state{}, err
	}
	traffic, err := rendered.Traffic()
	return state{at.Commit.Hash, at.Commit.Subject, string(rendered.Manifest), traffic}, err
}

// A view is a commit and what the data path did when it was live, or when the
// next commit came because it never was.
type view struct {
	state
	live   bool
	inGit  string         // the traffic by version, in words
	shares map[string]int // percent by version
	counts map[string]int // answers by version
}

// requests is how often the data path is asked after each commit.
const requests = 200

// views are what a run's commits did to the traffic, the oldest first. Each
// push waits until the commit before it has been looked at: the run pushes what
// comes next when the last step is live and judged, so what is seen is neither
// too early nor too late on a machine of any speed.
type views struct {
	mu   sync.Mutex
	from string // the tip before the run; empty: nobody looks
	seen []view
	err  error
}

// aroundPushes looks at the tip before each push that is served.
func (w *world) aroundPushes(name string, next http.Handler) http.Handler {
	if name != "git" {
		return next
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && path.Base(r.URL.Path) == "git-receive-pack" {
			w.look(r.Context())
		}
		next.ServeHTTP(rw, r)
	})
}

// look asks the data path what it does at the tip. What was seen of the same
// commit before is seen anew.
func (w *world) look(ctx context.Context) {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	if w.views.from == "" || w.views.err != nil {
		return
	}
	at, err := w.tip(ctx)
	if err != nil || at.commit == w.views.from {
		w.views.err = err
		return
	}
	v, err := w.askUsers(ctx, at, knative.SameTraffic(w.Argo.Traffic(namespace, service), at.traffic))
	if last := len(w.views.seen) - 1; last >= 0 && w.views.seen[last].commit == at.commit {
		w.views.seen = w.views.seen[:last]
	}
	w.views.seen, w.views.err = append(w.views.seen, v), err
}

// lookFrom begins anew: at what comes after a commit, or at nothing.
func (w *world) lookFrom(commit string) (seen []view, err error) {
	w.views.mu.Lock()
	defer w.views.mu.Unlock()
	seen, err = w.views.seen, w.views.err
	w.views.from, w.views.seen, w.views.err = commit, nil, nil
	return seen, err
}

// askUsers asks the data path, as the Service's clients do.
func (w *world) askUsers(ctx context.Context, at state, live bool) (view, error) {
	v := view{state: at, live: live, shares: map[string]int{}, counts: map[string]int{}}
	var words []string
	for _, t := range at.traffic {
		version := w.version(t.RevisionName)
		share := fmt.Sprintf("%s %d %%", version, knative.Percent(t))
		if t.Tag != "" {
			share += " (" + t.Tag + ")"
		}
		words = append(words, share)
		v.shares[version] += knative.Percent(t)
	}
	v.inGit = strings.Join(words, ", ")
	for range requests {
		version, err := w.ask(ctx)
		if err != nil {
			return view{}, err
		}
		v.counts[version]++
	}
	return v, nil
}

// version is the tag of a revision's image.
func (w *world) version(revision string) string {
	if live := w.Argo.Revision(namespace, revision); live != nil {
		return tagOf(live.Spec.Containers[0].Image)
	}
	return revision
}

func tagOf(image string) string {
	_, tag, _ := kustomize.SplitImage(image)
	return tag
}

// ask makes one request to the Service and says which version answered.
func (w *world) ask(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.Argo.Ingress()+"/healthz", nil)
	if err != nil {
		return "", err
	}
	request.Host = service + "." + namespace + ".example.test"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", errors.New("a request of the Service was answered " + response.Status)
	}
	var answer struct{ Image string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", err
	}
	return tagOf(answer.Image), nil
}

// tolerance is how far a count may be from its share, in requests: the
// requests of others are counted in between.
const tolerance = requests / 10

// check compares the counts with the traffic in Git, where that is live.
func (v view) check() error {
	for version, percent := range v.shares {
		want, got := requests*percent/100, v.counts[version]
		exact := percent == 0 || percent == 100
		if v.live && (exact && got != want || got < want-tolerance || got > want+tolerance) {
			return fmt.Errorf("after commit %.7s %s answered %d of %d requests, but it has %d %% of the traffic", v.commit, version, got, requests, percent)
		}
	}
	return nil
}

// served is the share of the traffic by version: as Git says where the commit
// is live and check has passed, else as it was counted.
func (v view) served() string {
	shares := v.shares
	if !v.live {
		shares = v.counts
	}
	var parts []string
	for version, n := range shares {
		if !v.live {
			n = n * 100 / requests
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %%", version, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
