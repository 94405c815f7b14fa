package inputs

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/review"
	"github.com/acme/knative-promote/promote/source"
)

// tried are values of what guards promotions, and of what they rest on. Each is one that a
// person may write in the pipeline file and in a run.
var tried = map[string][]string{
	"from":            {"apps/product-import/overlays/staging", "apps/product-import/overlays/dev", "apps/product-import/overlays/staging,apps/product-import/overlays/dev"},
	"from-branch":     {"main", "topic"},
	"image":           {"ghcr.io/acme/product-import:v2"},
	"soak":            {"30m", "1h", "2h"},
	"checks":          {"e2e", "contract", "e2e, contract"},
	"on-config-drift": {"warn", "fail"},
	"mode":            {"push", "first-pull-request", "pull-request"},
	"merge":           {"auto", "wait", "none"},
	"steps":           {"100", "50,100", "10@5m,50@5m,100", "10@1m,100", "10@5m,20,50@10m,100", "10@5m"},
	"windows":         {"a.yaml", "b.yaml"},
	"probe":           {"/healthz", "/healthz expect=200"},
	"probe-count":     {"1", "3", "5"},
	"probe-connect":   {"127.0.0.1:1", "127.0.0.1:2"},
	"load":            {"/healthz 5/s", "/healthz 1/s"},
	"slo":             {"success>=99%", "success>=90%"},
	"wait-for-data":   {"1m", "5m", "10m"},
	"warm-up":         {"/healthz", "/other"},
	"compare":         {"/api status", "/api latency<=1.5x"},
	"analysis":        {"analysis/a.yaml", "analysis/b.yaml"},
	"analysis-args":   {"a=1", "a=2"},
	"on-failure":      {"hold", "rollback"},
	"on-inconclusive": {"pass", "hold", "rollback"},
	"policies":        {"policies/*.yaml", "other/*.yaml"},
	"pod-security":    {"baseline", "restricted"},
	"strict":          {"false", "true"},
	"preflight":       {"off", "warn", "error"},
	"skip-checks":     {"drifted", "frozen", "drifted, frozen"},
}

// FuzzGuards takes a pipeline file and a run, and finds none that keeps less than the file
// says. What that is, is a reading of the file that has nothing to do with how the program
// compares values: of the settings that the run has, beside those of a run that is given
// nothing. A byte says the value of an input in the file, and one that in the run.
func FuzzGuards(f *testing.F) {
	for i := range names() { // a guard that is said, and another input that is given
		for j, name := range names() {
			for value := range tried[name] {
				seed := make([]byte, 2*len(tried))
				seed[2*i], seed[2*j+1] = byte(len(tried[names()[i]])), byte(value+1)
				f.Add(seed)
			}
		}
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		said, given := map[string]string{}, map[string]string{}
		for i, name := range names() {
			for n, chosen := range []map[string]string{said, given} {
				if at := 2*i + n; at < len(choices) && choices[at] != 0 {
					chosen[name] = tried[name][int(choices[at]-1)%len(tried[name])]
				}
			}
		}
		file, err := pipeline.Parse([]byte(written(said)), FileKeys())
		if err != nil {
			t.Skip()
		}
		if said["from"]+given["from"]+given["image"] == "" {
			given["image"] = "unchanged" // a run says what it promotes
		}
		run, wrong := readGiven(t, file, given)
		asked := map[string]string{}
		if said["from"] == "" {
			asked["image"] = "unchanged"
		}
		alone, contradicts := readGiven(t, file, asked)
		if wrong != nil || contradicts != nil {
			return // it does not run, or there is nothing to hold it against
		}
		for guard, keeps := range guarded(said, alone.Promote, run.Promote) {
			if !keeps {
				t.Errorf("%s: the file says\n%s, and the run is given %v", guard, written(said), given)
			}
		}
	})
}

func names() []string { return slices.Sorted(maps.Keys(tried)) }

// written is a pipeline file that says these values for production.
func written(said map[string]string) string {
	text := "version: 1\npath: apps/{service}/overlays/{environment}\nenvironments:\n  dev:\n  staging:\n  production:\n    application: product-import-production\n"
	for _, name := range slices.Sorted(maps.Keys(said)) {
		value := said[name]
		if name == "from" { // by names, in the order of the file
			value = strings.ReplaceAll(value, "apps/product-import/overlays/", "")
			text += "    from: [" + value + "]\n"
			continue
		}
		text += "    " + name + ": '" + value + "'\n"
	}
	return text
}

func readGiven(t *testing.T, file pipeline.File, given map[string]string) (Settings, error) {
	t.Helper()
	env := []string{"INPUT_COMMAND=promote", "INPUT_TOKEN=git-secret", "INPUT_TIMEOUT=5h"}
	for name, value := range given {
		env = append(env, "INPUT_"+strings.ToUpper(name)+"="+value)
	}
	return readWith(t, file, env...)
}

// guarded tells of each guard of a file whether a run keeps what one does that is given nothing.
func guarded(said map[string]string, file, run promote.Config) map[string]bool {
	is := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return said[name] != "" && said[name] != "false" })
	}
	same := func(a, b any) bool { return reflect.DeepEqual(a, b) }
	asks := is("probe", "load", "slo", "compare", "analysis", "warm-up")
	set, judged := file.Gates, run.Gates
	kept := map[string]bool{
		"from":            !is("from") || all(file.From, run.From) && len(run.Images) == 0 && file.FromBranch == run.FromBranch,
		"soak":            !is("soak") || run.Soak >= file.Soak,
		"checks":          !is("checks") || all(file.Checks, run.Checks),
		"on-config-drift": !is("on-config-drift") || file.OnDrift == source.DriftWarn || run.OnDrift == source.DriftFail,
		"mode":            !is("mode") || run.Mode == file.Mode && (run.Merge == file.Merge || run.Merge == review.Wait || run.Merge == review.None),
		"steps":           !is("steps") || stops(file.Steps, run.Steps),
		"windows":         !is("windows") || run.Guards.Windows == file.Guards.Windows,
		"probe":           !is("probe") || same(set.Probe.Path, judged.Probe.Path) && same(set.Probe.Expect, judged.Probe.Expect) && judged.Probe.Count >= set.Probe.Count,
		"load":            !is("load") || same(set.Load, judged.Load),
		"slo":             !is("slo") || same(set.SLO, judged.SLO),
		"warm-up":         !is("warm-up") || set.WarmUp == judged.WarmUp,
		"compare":         !is("compare") || same(set.Compare, judged.Compare),
		"analysis":        !is("analysis") || same(set.Analysis.Entries, judged.Analysis.Entries) && same(set.Analysis.Args, judged.Analysis.Args),
		"on-failure":      !asks && !is("on-failure") || run.OnFailure == file.OnFailure || run.OnFailure == promote.RollBack,
		"on-inconclusive": !is("probe", "load", "slo", "compare", "analysis", "on-inconclusive") || run.OnInconclusive == file.OnInconclusive || run.OnInconclusive == promote.RollBack,
		"policies":        !is("policies") || same(file.Policies, run.Policies),
		"pod-security":    !is("pod-security") || run.PodSecurity == file.PodSecurity || run.PodSecurity == "restricted",
		"strict":          !is("strict") || run.Strict,
		"preflight":       !is("policies", "pod-security", "strict", "preflight") || run.Preflight == file.Preflight || run.Preflight == promote.PreflightError,
		"skip-checks":     !is("policies", "pod-security", "strict", "preflight", "skip-checks") || all(run.Skip, file.Skip),
		"probe-connect":   !is("probe", "compare", "load", "slo") || set.Route.Connect == judged.Route.Connect,
	}
	return kept
}

// all tells whether each of some names is among others.
func all(names, among []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(among, name) })
}

// stops tells whether a run stops at each percentage of a file that it comes past, for as
// long as that says, and goes no further.
func stops(file, run []plan.Step) bool {
	last := run[len(run)-1].Percent
	for _, step := range file {
		stopsThere := func(s plan.Step) bool { return s.Percent == step.Percent && s.Bake >= step.Bake }
		if step.Percent <= last && !slices.ContainsFunc(run, stopsThere) {
			return false
		}
	}
	return last <= file[len(file)-1].Percent
}
