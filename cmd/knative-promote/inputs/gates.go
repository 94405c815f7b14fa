package inputs

import (
	"slices"

	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/setting"
)

// inputsOfGates are the inputs of what must pass after a step: of each gate its own, and those
// that several have.
func inputsOfGates(s *Settings, kinds [][]gate.Kind) []Input {
	own := ownRows(kinds, &s.Promote.Gates)
	var all []Input
	for _, r := range append(own, rowsOfGates(s, asksFor(own))...) {
		all = append(all, Input{
			Name: r.Name, Usage: r.Usage, Default: r.Default, Example: r.Example, Secret: r.Secret, Parts: r.Parts, Address: r.Address, With: r.With,
			Said: r.Said, Of: r.Of, Stricter: r.Stricter, Value: r.Value, For: []Command{Promote, Check, Diff},
		})
	}
	return all
}

// senders are the inputs with which gates send requests to the Service.
func senders(kinds [][]gate.Kind) []string {
	var names []string
	for _, kind := range slices.Concat(kinds...) {
		if kind.Sends != "" {
			names = append(names, kind.Sends)
		}
	}
	return names
}

// ownRows are the inputs that gates have of their own.
func ownRows(kinds [][]gate.Kind, s *gate.Settings) (rows []setting.Row) {
	for _, kind := range slices.Concat(kinds...) {
		if kind.Inputs != nil {
			rows = append(rows, kind.Inputs(s)...)
		}
	}
	return rows
}

// asksFor are those of gates' inputs that ask for one.
func asksFor(own []setting.Row) (names []string) {
	for _, row := range own {
		if row.With == "" {
			names = append(names, row.Name)
		}
	}
	return names
}

// rowsOfGates are the inputs that several gates have. All that asks for a gate rests on some.
func rowsOfGates(s *Settings, asks []string) []setting.Row {
	p, m := &s.Promote, &s.Prometheus
	return []setting.Row{
		{Name: "probe-connect", Said: setting.Free, Of: asks, Example: "127.0.0.1:8080", Address: true, Value: setting.Bind(&p.Gates.Route.Connect, parseHostPort),
			Usage: "host:port to connect to instead of resolving the host of the Service's URLs, as curl's --connect-to does, for all that asks the Service"},
		{Name: "prometheus", Said: setting.Free, Of: []string{"slo", "analysis"}, Example: "https://prometheus.example.com", Address: true, Value: setting.Bind(&m.Address, parsePrometheus),
			Usage: "address of the Prometheus, or of what speaks its API, that `slo` asks where it says `from=kourier`, `istio`, `knative` or a query; /api/v1/query is below it"},
		{Name: "prometheus-headers", Said: setting.Never, Example: "Authorization: Bearer ${{ secrets.PROMETHEUS_TOKEN }}", Secret: true, Parts: headerSecrets, Value: setting.Bind(&m.Headers, parseHeaders),
			Usage: "headers for Prometheus, one `Name: value` per line"},
		{Name: "prometheus-ca", Said: setting.Never, Example: "${{ vars.PROMETHEUS_CA }}", Value: setting.Bind(&m.CA, parseCertificates),
			Usage: "certificates, in PEM, to trust for Prometheus besides the system's"},
		{Name: "wait-for-data", Said: setting.Free, Of: asks, Stricter: pipeline.Longer(), Default: "5m", Example: "10m", Value: setting.Bind(&p.Gates.WaitForData, parseDuration),
			Usage: "how much longer than its own time a step waits for requests enough to judge"},
		{Name: "on-inconclusive", Said: setting.Guard, Of: asks, Stricter: pipeline.Always(string(promote.RollBack)), Default: string(promote.Hold), Example: string(promote.RollBack), Value: setting.Bind(&p.OnInconclusive, oneOf(promote.Hold, promote.RollBack, promote.GoOn)),
			Usage: "when a gate cannot tell in its time whether the candidate is good: `hold`, `rollback`, or `pass`, which goes on with a warning"},
	}
}
