package inputs

import (
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/compare"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/slo"
)

// gates are the inputs of what must pass after a step, beside that it is live.
func (s *Settings) gates() []Input {
	p, m := &s.Promote, &s.Prometheus
	return []Input{
		{Name: "probe", Said: guard, Example: "/healthz expect=200", Address: true, For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Probe, parseProbe(&p.Gates.Probe)),
			Usage: "path to request on the candidate's URL before each next step; `expect=` wants one status instead of any 2xx"},
		{Name: "probe-count", Said: guard, Than: pipeline.Higher(), Default: "3", Example: "5", For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Probe.Count, parseCount(1, 1000)),
			Usage: "how many consecutive good answers the probe needs"},
		{Name: "probe-connect", Said: free, Example: "127.0.0.1:8080", Address: true, For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Way.Connect, parseHostPort),
			Usage: "host:port to connect to instead of resolving the host of the Service's URLs, as curl's --connect-to does: for `probe`, `warm-up`, `compare`, `load` and the web metrics of `analysis` that ask the Service"},
		{Name: "warm-up", Said: guard, Example: "/healthz", Address: true, For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.WarmUp, parseWarmUp),
			Usage: "path to request on the candidate's URL so that it has a ready pod when it gets traffic; more pods are told, not promised"},
		{Name: "compare", Said: guard, Example: "/api/items status,latency<=1.5x,json count=20 ignore=generatedAt", Address: true, For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Compare, compare.Parse),
			Usage: "paths to request on the candidate and on the old revision at 0 %, one a line, to compare `status` (the default), `latency<=FACTORx` or the fields of the `json`, " +
				"in `count=` rounds (default: 20), without the fields of `ignore=`"},
		{Name: "load", Said: guard, Example: "/healthz 5/s", Address: true, For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Load, parseLoad),
			Usage: "path to request on the candidate's URL while a step bakes, and how often: `PATH NUMBER/s`, or `/m`; up to 20 % of the traffic the Service's URL is asked as well, to compare"},
		{Name: "slo", Said: guard, Example: "success>=99% latency<=500ms@99%", For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.SLO, slo.Parse),
			Usage: "what the candidate's requests must keep: `success>=PERCENT%`, `latency<=DURATION@PERCENT%`, `requests>=NUMBER` in each step (default: 50), " +
				"`from=load` (default: the requests of `load`, or of `probe`), `from=kourier`, `istio`, `knative` or at the end a PromQL query (those of all users, as `prometheus` has them); without it `success>=99%`, where there is a load, or a probe and a step that bakes"},
		{Name: "analysis", Said: guard, Example: "analysis/success-rate.yaml at=10,50", For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Analysis.Entries, analysis.ParseEntries),
			Usage: "files of the infra repository with AnalysisTemplates of Argo Rollouts, one per line, that are measured after a step: `FILE`, or `FILE at=STEPS` " +
				"with `every`, `candidate`, `final` or percentages"},
		{Name: "analysis-args", Said: guard, Example: "service-name=shop.prod.svc.cluster.local", For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Analysis.Args, analysis.ParsePairs),
			Usage: "values for the arguments that the AnalysisTemplates declare, one `NAME=VALUE` per line"},
		{Name: "analysis-secrets", Example: "prometheus-token/token=${{ secrets.PROMETHEUS_TOKEN }}", Secret: true, Parts: pairSecrets, For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.Analysis.Secrets, analysis.ParsePairs),
			Usage: "values for what the AnalysisTemplates read from Secrets, one `SECRET/KEY=VALUE` per line"},
		{Name: "prometheus", Said: free, Example: "https://prometheus.example.com", Address: true, For: []Command{Promote, Check, Diff}, Value: bind(&m.Address, parsePrometheus),
			Usage: "address of the Prometheus, or of what speaks its API, that `slo` asks where it says `from=kourier`, `istio`, `knative` or a query; /api/v1/query is below it"},
		{Name: "prometheus-headers", Example: "Authorization: Bearer ${{ secrets.PROMETHEUS_TOKEN }}", Secret: true, Parts: headerSecrets, For: []Command{Promote, Check, Diff}, Value: bind(&m.Headers, parseHeaders),
			Usage: "headers for Prometheus, one `Name: value` per line"},
		{Name: "prometheus-ca", Example: "${{ vars.PROMETHEUS_CA }}", For: []Command{Promote, Check, Diff}, Value: bind(&m.CA, parseCertificates),
			Usage: "certificates, in PEM, to trust for Prometheus besides the system's"},
		{Name: "wait-for-data", Said: free, Default: "5m", Example: "10m", For: []Command{Promote, Check, Diff}, Value: bind(&p.Gates.WaitForData, parseDuration),
			Usage: "how much longer than its own time a step waits for requests enough to judge"},
		{Name: "on-inconclusive", Said: guard, Default: string(promote.Hold), Example: string(promote.RollBack), For: []Command{Promote, Check, Diff}, Value: bind(&p.OnInconclusive, oneOf(promote.Hold, promote.RollBack, promote.GoOn)),
			Usage: "when a gate cannot tell in its time whether the candidate is good: `hold`, `rollback`, or `pass`, which goes on with a warning"},
	}
}
