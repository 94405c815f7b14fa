package slo

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Objective{
		"success>=99%": {Success: 99, Requests: 50, From: Load},
		"success>=99% latency<=500ms@99% requests>=200 from=kourier": {Success: 99, Latency: 500 * time.Millisecond, Fast: 99, Requests: 200, From: Kourier},
		"\nfrom=istio, latency<=1.5s@99.9%,\n":                       {Latency: 1500 * time.Millisecond, Fast: 99.9, Requests: 50, From: Istio},
		"success>=99.95%,from=knative requests>=1":                   {Success: 99.95, Requests: 1, From: Knative},
		"success>=99% scrape=15s from=knative":                       {Success: 99, Requests: 50, From: Knative, Scrape: 15 * time.Second},
		"success>=99% from=sum(rate(e[5m])) / sum(rate(a[5m])) ":     {Success: 99, Requests: 50, From: "sum(rate(e[5m])) / sum(rate(a[5m]))"},
		`success>=99% from=errors{job="a", from="b"}`:                {Success: 99, Requests: 50, From: `errors{job="a", from="b"}`},
	} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("%q is %+v, error %v, want %+v", text, got, err, want)
		}
	}
}

func TestParseError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       `expected success or latency or both, but there is ""; an example is success>=99%`,
		"requests>=50":                           `expected success or latency or both, but there is "requests>=50"`,
		"sucess>=99%":                            `"sucess>=99%" is not known: expected success>=, latency<=, requests>=, scrape= and from=, such as success>=99%`,
		"99%":                                    `"99%" is not known`,
		"success>99%":                            `"success>99%": expected success>=PERCENT%, such as success>=99%`,
		"success >= 99%":                         `"success": expected success>=PERCENT%, such as success>=99%`,
		"success>=99":                            `"success>=99": expected a percentage with its sign, and with 6 decimals at most, such as success>=99%`,
		"success>=0x63%":                         "expected a percentage with its sign",
		"success>=NaN%":                          "expected a percentage with its sign",
		"success>=99.9999999%":                   "with 6 decimals at most",
		"success>=100%":                          `"success>=100%": expected below 100 %, as 100 % leaves no room for a single bad request in any number of them, such as success>=99%`,
		"success>=0%":                            "expected above 0 % and below 100 %, such as success>=99%",
		"success>=101%":                          "expected above 0 % and below 100 %",
		"success>=99% success>=98%":              `"success>=98%": success is there twice, expected it once`,
		"latency<=500ms":                         `"latency<=500ms": after @ expected a percentage`,
		"latency<=500@99%":                       `"latency<=500@99%": expected a duration above 0 and the percentage of the requests that keep it, such as latency<=500ms@99%`,
		"latency<=-1s@99%":                       "expected a duration above 0",
		"success>=99% requests>=0":               `"requests>=0": expected a whole number from 1 to 1000000000, such as requests>=50`,
		"success>=99% requests>=many":            `"requests>=many": expected a whole number`,
		"success>=99% scrape=15":                 `"scrape=15": expected a duration from 1s to 5m, the scrape_interval that Prometheus is given, such as scrape=15s`,
		"success>=99% scrape=0s":                 "expected a duration from 1s to 5m",
		"success>=99% scrape=6m":                 "expected a duration from 1s to 5m",
		"success>=99% scrape=15s":                "scrape says how often pods are scraped, which from=load does not depend on: expected it with from=knative or a query only",
		"scrape=1m latency<=1s@99% from=kourier": "scrape says how often pods are scraped, which from=kourier does not depend on",
		"success>=99% from=":                     `"from=": expected load, kourier, istio, knative or a PromQL query, such as from=load`,
		"from=kourir success>=99%":               `"from=kourir": expected load, kourier`,
		"from=sum(errors) success>=99%":          `expected the query as the last part, but "success>=99%" comes behind it`,
		"success>=99% from=load from=a()":        `from is there twice`,
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || got != (Objective{}) {
			t.Errorf("%q is %+v, error %v\nwant %s", text, got, err, want)
		}
	}
}

// FuzzParse checks that what is accepted has a room for errors and a limit that
// the test can work with, and that it means the same when written out.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"success>=99% latency<=500ms@99% requests>=50 from=load", "latency<=1ns@0.000001%", "success>=99.999999%", "from=sum(a, b),success>=5%",
		"success>=99%\nfrom=x{a=\"b\"} ,", "success>=099.50%", "success>=.5%", "success>=٩%", "latency<=2562047h47m16.854775807s@50%", "success>=100.0%", "success>=99% scrape=1m30s from=a()",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := Parse(text)
		if err != nil {
			if !strings.Contains(err.Error(), "expected") {
				t.Fatalf("%q: the error does not say what is expected: %v", text, err)
			}
			return
		}
		if len(o.questions()) == 0 || o.Requests < 1 || o.From == "" {
			t.Fatalf("%q asks nothing: %+v", text, o)
		}
		for _, q := range o.questions() {
			if q.limit < 0.9e-8 || q.limit > 1-0.9e-8 {
				t.Fatalf("%q has the limit %g", text, q.limit)
			}
		}
		if again, err := Parse(o.String()); again != o || err != nil {
			t.Fatalf("%q is %+v, and written as %q it is %+v, error %v", text, o, o, again, err)
		}
	})
}
