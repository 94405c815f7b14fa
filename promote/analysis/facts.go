package analysis

import (
	"fmt"
	"strconv"
	"time"
)

// Facts are what a promotion knows of a step. Each is an argument of a name that a
// template may declare.
type Facts struct {
	Service, Namespace string
	Revision, Stable   string // the new and the old revision
	CandidateURL, URL  string // of the new revision alone, and of the Service
	Image, Commit      string
	Percent            int
	Step               string    // its name
	Live               time.Time // when the step's commit was live
	Created            time.Time // when the new revision's commit was made
}

// leastWindow is how long a time a query looks at, at least: servers are scraped
// every 15 or 30 seconds, and a rate needs two scrapes.
const leastWindow = time.Minute

// values are the arguments, by their names. Those of Argo Rollouts for the hashes
// of the pods stand for the revisions.
func (f Facts) values(now time.Time) map[string]string {
	candidate := f.CandidateURL
	if f.Percent == finalStep && candidate == "" {
		candidate = f.URL
	}
	return map[string]string{
		"service": f.Service, "namespace": f.Namespace,
		"revision": f.Revision, "latest-hash": f.Revision,
		"stable": f.Stable, "stable-hash": f.Stable,
		"candidate-url": candidate, "url": f.URL,
		"image": f.Image, "commit": f.Commit,
		"percent": strconv.Itoa(f.Percent), "step": f.Step,
		"window": window(f.Live, now),
		"age":    window(f.Created, now),
	}
}

// window is the time since then as both PromQL and Go read it.
func window(since, now time.Time) string {
	d := leastWindow
	if !since.IsZero() {
		d = max(d, now.Sub(since))
	}
	return fmt.Sprintf("%ds", int64((d+time.Second-1)/time.Second))
}

// sample stands for what is not known yet where templates are looked at before
// there is a candidate.
var sample = Facts{
	Service: "service", Namespace: "namespace", Revision: "service-00002", Stable: "service-00001",
	CandidateURL: "http://candidate.example.com", URL: "http://service.example.com",
	Image: "registry.example.com/service:v2", Commit: "0123456789abcdef0123456789abcdef01234567", Percent: 10, Step: "10",
}
