package argotest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
)

type answer struct {
	code            int
	Revision, Image string
}

func (w *world) ask(host string) answer {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.Ingress()+"/healthz", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Host = host
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	got := answer{code: response.StatusCode}
	if response.Header.Get("Content-Type") == "application/json" {
		if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
			w.t.Fatal(err)
		}
	}
	return got
}

func TestDataPathSplits(t *testing.T) {
	t.Parallel()
	const host = service + ".production.example.test"
	w := start(t, nil)
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{
		tag: "v2.0.0-http500", revision: second, defaults: true, traffic: generated + ":90 " + second + ":10:candidate",
	}))
	count := map[answer]int{}
	for range 200 {
		count[w.ask(host)]++
	}
	want := map[answer]int{
		{code: 200, Revision: generated, Image: "ghcr.io/acme/" + service + ":v1.0.0"}:      180,
		{code: 500, Revision: second, Image: "ghcr.io/acme/" + service + ":v2.0.0-http500"}: 20,
	}
	if diff := cmp.Diff(want, count, cmp.AllowUnexported(answer{})); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if got := w.ask("candidate-" + host); got.Revision != second {
		t.Errorf("the tag's host answers from %q, want %s", got.Revision, second)
	}
	if got := w.ask("nobody." + host); got.code != http.StatusNotFound {
		t.Errorf("an unknown host answers %d, want 404", got.code)
	}
}

func TestCrashAfterReady(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	w.settled(w.infra.commit(change{tag: "v2.0.0-crash30", revision: second, defaults: true, traffic: second + ":100"}))
	w.until("Degraded", func(a *v1alpha1.Application) bool { return a.Status.Health.Status == "Degraded" })
	if got := w.ask(service + ".production.example.test"); got.code != http.StatusServiceUnavailable {
		t.Errorf("a crashed revision answers %d, want 503", got.code)
	}
}

func TestSlowRevision(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	w.settled(w.infra.head())
	commit := w.infra.commit(change{tag: "v2.0.0-slow40", revision: second, defaults: true, traffic: second + ":100"})
	w.refresh()
	w.until("Progressing", func(a *v1alpha1.Application) bool {
		return a.Status.Sync.Revision == commit && a.Status.Health.Status == "Progressing" && a.Operation == nil
	})
	if got, want := w.routing(), generated+":100"; got != want {
		t.Errorf("the data path is %q while the revision starts, want %q", got, want)
	}
	w.settled(commit)
	if got, want := w.routing(), second+":100"; got != want {
		t.Errorf("the data path is %q, want %q", got, want)
	}
}
