package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/slo"
)

// programs are Prometheus' own: those on the PATH, or those that testdata/cluster
// has unpacked. Nothing is fetched here.
func programs(t *testing.T) (server, tool string) {
	t.Helper()
	if server, err := exec.LookPath("prometheus"); err == nil {
		if tool, err := exec.LookPath("promtool"); err == nil {
			return server, tool
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	folder := filepath.Join(cache, "knative-promote", "cluster", "bin", "prometheus")
	for _, name := range []string{"prometheus", "promtool"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Skip("there is no Prometheus; `go run -C testdata/cluster . build -prometheus` unpacks one")
		}
	}
	return filepath.Join(folder, "prometheus"), filepath.Join(folder, "promtool")
}

// A past is what Prometheus has scraped, in OpenMetrics' text.
type past struct {
	text strings.Builder
	end  time.Time
}

// scraped has a series every 15 seconds between two moments, in seconds before
// the end, at the values in turn; the last one stays.
func (p *past) scraped(series string, from, to int, values ...float64) {
	for i, ago := 0, from; ago >= to; i, ago = i+1, ago-15 {
		fmt.Fprintf(&p.text, "%s %v %d\n", series, values[min(i, len(values)-1)], p.end.Add(time.Duration(-ago)*time.Second).Unix())
	}
}

// recorded has every line of a recorded exposition from a moment on, with the
// labels that scraping adds.
func (p *past) recorded(t *testing.T, file, labels string, from int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		end := strings.LastIndex(line, "} ")
		value, err := strconv.ParseFloat(strings.TrimSpace(line[end+2:]), 64)
		if err != nil {
			t.Fatal(err)
		}
		p.scraped(line[:end]+","+labels+"}", from, 0, value)
	}
}

// open starts a Prometheus that remembers the past.
func (p *past) open(t *testing.T) *prometheus.Client {
	t.Helper()
	server, tool := programs(t)
	dir := t.TempDir()
	history, config, data := filepath.Join(dir, "history"), filepath.Join(dir, "prometheus.yml"), filepath.Join(dir, "data")
	for file, text := range map[string]string{history: p.text.String() + "# EOF\n", config: "{}\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), tool, "tsdb", "create-blocks-from", "openmetrics", history, data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := freeAddress(t)
	run := exec.CommandContext(t.Context(), server, "--config.file="+config, "--storage.tsdb.path="+data, "--storage.tsdb.retention.time=100y",
		"--web.listen-address="+address, "--log.level=error")
	run.Stderr = os.Stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Wait() })
	client, err := prometheus.New(prometheus.Config{Address: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, client)
	return client
}

func ready(t *testing.T, client *prometheus.Client) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for {
		_, err := client.Query(ctx, "1", time.Time{})
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// end is when the past ends: a fixed moment, so that every run reads the same.
var end = time.Date(2026, 11, 22, 13, 50, 0, 0, time.UTC)

// TestPromQL asks a real Prometheus for what each source counts.
func TestPromQL(t *testing.T) {
	t.Parallel()
	const pod = `job="queue",instance="10.0.0.7:9091"`
	recorded := Seen{Candidate: slo.Counts{Requests: 7, Failed: 2, Slow: 1}, Old: &slo.Counts{}, Within: 500 * time.Millisecond}
	for name, test := range map[string]struct {
		source slo.Source
		past   func(*testing.T, *past)
		want   Seen
	}{
		"kourier":                {slo.Kourier, kourierPast, Seen{Candidate: slo.Counts{Requests: 9, Failed: 4, Slow: 2}, Old: &slo.Counts{Requests: 1000, Failed: 10}, Within: 500 * time.Millisecond}},
		"kourier, restarted":     {slo.Kourier, restartedPast, Seen{Candidate: slo.Counts{Requests: 9, Failed: 7}, Old: &slo.Counts{}, Within: 500 * time.Millisecond}},
		"kourier, only failures": {slo.Kourier, onlyFailures, Seen{Candidate: slo.Counts{Requests: 5, Failed: 5}, Old: &slo.Counts{}, Within: 500 * time.Millisecond}},
		"istio":                  {slo.Istio, istioPast, Seen{Candidate: slo.Counts{Requests: 7, Failed: 2, Slow: 3}, Old: &slo.Counts{}, Within: 500 * time.Millisecond}},
		"knative 1.15":           {slo.Knative, func(t *testing.T, p *past) { p.recorded(t, "knative-0.42.2.txt", pod, 300) }, recorded},
		"knative 1.15, scraped twice": {slo.Knative, func(t *testing.T, p *past) {
			p.recorded(t, "knative-0.42.2.txt", pod, 300)
			p.recorded(t, "knative-0.42.2.txt", `job="other"`, 300)
		}, recorded},
		"knative 1.23 with target_info": {slo.Knative, func(t *testing.T, p *past) { p.recorded(t, "knative-0.50.0.txt", pod, 300) }, recorded},
		"knative 1.23 with pod's labels": {slo.Knative, func(t *testing.T, p *past) {
			p.recorded(t, "knative-0.50.0.txt", `namespace="production",serving_knative_dev_revision="shop-00002",`+pod, 300)
		}, recorded},
		"knative 1.23, address again": {slo.Knative, addressAgain, Seen{Candidate: slo.Counts{Requests: 5, Failed: 3}, Old: &slo.Counts{Requests: 900}, Within: 500 * time.Millisecond}},
		"query":                       {`sum by (response_code) (last_over_time(revision_request_count{revision_name="{{args.revision}}"}[{{args.age}}]))`, func(t *testing.T, p *past) { p.recorded(t, "knative-0.42.2.txt", pod, 300) }, Seen{Candidate: slo.Counts{Requests: 7, Failed: 2}, Old: &slo.Counts{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &past{end: end}
			test.past(t, p)
			objective := slo.Objective{Success: 99, Latency: 500 * time.Millisecond, Fast: 99, From: test.source}
			if name == "query" {
				objective.Latency = 0
			}
			c := counter(t, p.open(t), objective, Revisions{Namespace: "production", Candidate: "shop-00002", Old: "shop-00001"})
			got, err := c.totals(t.Context(), p.end, time.Hour)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("got %v (-want +got):\n%s", err, diff)
			}
			_, err = c.totals(t.Context(), p.end.Add(-100*time.Hour), time.Hour)
			if !errors.Is(err, ErrNoSeries) {
				t.Errorf("before there was anything: got %v, want %v", err, ErrNoSeries)
			}
		})
	}
}

// kourierPast has two gateways, of which one is gone, one that is first seen with
// failures, and one that two jobs scrape; and the requests of others.
func kourierPast(_ *testing.T, p *past) {
	series := func(suffix, revision, instance, job, label string) string {
		return fmt.Sprintf(`envoy_cluster_upstream_rq%s{envoy_cluster_name="%s",instance="%s",job="%s",%s}`, suffix, revision, instance, job, label)
	}
	const candidate, old, a, b, gateway = "production/shop-00002", "production/shop-00001", "10.0.0.1:9000", "10.0.0.2:9000", "gateway"
	p.scraped(series("", candidate, a, gateway, `envoy_response_code="200"`), 300, 0, 2, 3)
	p.scraped(series("", candidate, a, "again", `envoy_response_code="200"`), 295, 5, 2, 3)
	p.scraped(series("", candidate, b, gateway, `envoy_response_code="200"`), 3000, 1200, 1, 2)
	p.scraped(series("", candidate, b, gateway, `envoy_response_code="503"`), 3000, 1200, 4)
	p.scraped(series("", old, a, gateway, `envoy_response_code="200"`), 3600, 0, 900, 950, 990)
	p.scraped(series("", old, a, gateway, `envoy_response_code="500"`), 3600, 0, 10)
	p.scraped(series("", "production/shop-000020", a, gateway, `envoy_response_code="500"`), 3600, 0, 77)
	p.scraped(series("", "staging/shop-00002", a, gateway, `envoy_response_code="500"`), 3600, 0, 77)
	for le, value := range map[string]float64{"250": 5, "500": 7, "+Inf": 9} {
		p.scraped(series("_time_bucket", candidate, a, gateway, `le="`+le+`"`), 300, 0, value)
		p.scraped(series("_time_bucket", old, a, gateway, `le="`+le+`"`), 300, 0, 1000)
	}
}

func onlyFailures(_ *testing.T, p *past) {
	const labels = `{envoy_cluster_name="production/shop-00002",instance="10.0.0.1:9000",`
	p.scraped(`envoy_cluster_upstream_rq`+labels+`envoy_response_code="500"}`, 300, 0, 5)
	p.scraped(`envoy_cluster_upstream_rq_time_bucket`+labels+`le="500"}`, 300, 0, 5)
	p.scraped(`envoy_cluster_upstream_rq_time_bucket`+labels+`le="+Inf"}`, 300, 0, 5)
}

// restartedPast has a gateway whose counters have begun again at 0 a minute before the end.
func restartedPast(_ *testing.T, p *past) {
	const labels = `{envoy_cluster_name="production/shop-00002",instance="10.0.0.1:9000",`
	p.scraped(`envoy_cluster_upstream_rq`+labels+`envoy_response_code="500"}`, 120, 0, 548, 548, 548, 548, 0, 7)
	p.scraped(`envoy_cluster_upstream_rq`+labels+`envoy_response_code="200"}`, 120, 0, 70, 70, 70, 70, 0, 2)
	p.scraped(`envoy_cluster_upstream_rq_time_bucket`+labels+`le="500"}`, 120, 0, 618, 618, 618, 618, 0, 9)
	p.scraped(`envoy_cluster_upstream_rq_time_bucket`+labels+`le="+Inf"}`, 120, 0, 618, 618, 618, 618, 0, 9)
}

// istioPast has the labels that Istio's gateway writes, and a sidecar that counts
// the same requests.
func istioPast(_ *testing.T, p *past) {
	for _, reporter := range []string{"source", "destination"} {
		labels := `{reporter="` + reporter + `",destination_service_namespace="production",destination_service_name="shop-00002",instance="10.0.0.1:15020",`
		p.scraped(`istio_requests_total`+labels+`response_code="200",response_flags="-"}`, 300, 0, 4)
		p.scraped(`istio_requests_total`+labels+`response_code="503",response_flags="UF"}`, 300, 0, 1)
		p.scraped(`istio_requests_total`+labels+`response_code="503",response_flags="URX"}`, 300, 0, 1)
		p.scraped(`istio_requests_total`+labels+`response_code="0",response_flags="DC"}`, 300, 0, 1)
		p.scraped(`istio_request_duration_milliseconds_bucket`+labels+`le="500"}`, 300, 0, 4)
		p.scraped(`istio_request_duration_milliseconds_bucket`+labels+`le="+Inf"}`, 300, 0, 7)
	}
}

// addressAgain has a pod of the candidate with the address that a pod of the old
// revision had before.
func addressAgain(_ *testing.T, p *past) {
	const target, of = `job="queue",instance="10.0.0.7:9091"`, `kn_serving_invocation_duration_seconds`
	for _, pod := range []struct {
		revision       string
		from, to       int
		good, bad, sum float64
	}{{"shop-00001", 3600, 1200, 900, 0, 12.3}, {"shop-00002", 600, 0, 2, 3, .3}} {
		p.scraped(`target_info{kn_revision_name="`+pod.revision+`",k8s_namespace_name="production",`+target+`}`, pod.from, pod.to, 1)
		for code, value := range map[string]float64{"200": pod.good, "500": pod.bad} {
			p.scraped(of+`_count{http_response_status_code="`+code+`",`+target+`}`, pod.from, pod.to, value)
			p.scraped(of+`_sum{http_response_status_code="`+code+`",`+target+`}`, pod.from, pod.to, pod.sum)
			p.scraped(of+`_bucket{http_response_status_code="`+code+`",le="0.5",`+target+`}`, pod.from, pod.to, value)
			p.scraped(of+`_bucket{http_response_status_code="`+code+`",le="+Inf",`+target+`}`, pod.from, pod.to, value)
		}
	}
}
