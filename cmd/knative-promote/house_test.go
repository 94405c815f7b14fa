package main

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHouse holds the packages to their places.
func TestHouse(t *testing.T) {
	t.Parallel()
	const module = "github.com/acme/knative-promote/"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := imports{}
	for line := range strings.Lines(strings.ReplaceAll(string(out), module, "")) {
		fields := strings.Fields(line)
		packages[fields[0]] = fields[1:]
	}
	if len(packages) < 20 {
		t.Fatalf("go list knows of %d packages, expected those of the module", len(packages))
	}
	for _, wrong := range packages.misplaced() {
		t.Error(wrong)
	}
}

// imports are what each of our packages imports. Ours are named by their folder.
type imports map[string][]string

// mostLevels is how many packages of a folder may stand on top of each other: a reader
// has to know those below to understand the one on top. To what other folders an import
// may go, floors say.
const mostLevels = 8

// misplaced lists the imports that the design rules out, and the packages that
// stand on too many others.
func (p imports) misplaced() []string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if _, known := floors[top(name)]; !known {
			wrong = append(wrong, name+" stands in none of the folders of the design")
		}
		if chain := p.chain(name); len(chain) > mostLevels {
			wrong = append(wrong, fmt.Sprintf("%s stands on %d levels of packages of its folder, expected %d at most: %s", name, len(chain), mostLevels, strings.Join(chain, " ")))
		}
		for _, imported := range p[name] {
			if _, ours := p[imported]; ours && !downwards(name, imported) || forbidden(name, imported, ours) {
				wrong = append(wrong, name+" imports "+imported)
			}
		}
	}
	return wrong
}

// chain is the longest way down from a package, itself included, in its folder.
func (p imports) chain(name string) []string {
	var longest []string
	for _, imported := range p[name] {
		if _, ours := p[imported]; !ours || top(imported) != top(name) {
			continue
		}
		if below := p.chain(imported); len(below) > len(longest) {
			longest = below
		}
	}
	return append([]string{name}, longest...)
}

// floors are those of the folders: an import from one folder to another goes to a
// lower floor. What stands on one floor does not know of each other. What only tests and
// the sandbox run against is above the product, which so cannot have any of it.
var floors = map[string]int{"cmd/sandbox": 5, "internal/fake": 4, "cmd": 3, "promote": 2, "argo": 1, "gitops": 1, "internal": 0}

// top is the folder that a package stands in.
func top(name string) string {
	for _, folder := range []string{"cmd/sandbox", "internal/fake"} {
		if name == folder || strings.HasPrefix(name, folder+"/") {
			return folder
		}
	}
	folder, _, _ := strings.Cut(name, "/")
	return folder
}

// downwards tells whether an import goes to a lower floor, or stays in its folder
// and does not go up to a package that the importing one is a part of.
func downwards(name, imported string) bool {
	if top(name) != top(imported) {
		return floors[top(name)] > floors[top(imported)]
	}
	return !strings.HasPrefix(name, imported+"/")
}

// forbidden are further imports that the design rules out: argo's product code
// stands in one package, what compares manifests and what judges counts and
// answers know nothing of ours, what reads a file of the infra
// repository knows only what is internal, a plan is made without asking anybody, go-git stays behind
// gitops, its two packages and the test server of Git, a gate knows nothing
// of the run, what a run has done and the pages of that know neither the run nor Argo CD, and the story knows no forge and does not touch the environment.
func forbidden(name, imported string, ours bool) bool {
	git := []string{"gitops", "gitops/remote", "gitops/store"}
	if imported == "gitops/remote" {
		imported = "gitops" // nobody who may not read the repository may talk to its server
	}
	switch {
	case imported == "gitops/store" && name != "gitops",
		strings.HasPrefix(imported, "github.com/go-git/") && !slices.Contains(git, name) && name != "internal/fake/gittest":
		return true
	case name == "argo" && top(imported) == "argo",
		ours && slices.Contains([]string{"promote/compare", "promote/manifest", "promote/slo"}, name),
		ours && slices.Contains([]string{"promote/windows", "promote/pipeline"}, name) && top(imported) != "internal",
		name == "promote/gate" && slices.Contains([]string{"gitops", "promote/check", "promote/event", "promote/record", "promote/review"}, imported),
		slices.Contains([]string{"promote/destination", "promote/live", "promote/overlay", "promote/plan", "promote/source"}, name) && slices.Contains([]string{"promote/check", "promote/gate", "promote/guard", "promote/review"}, imported),
		name == "promote/ask" && slices.Contains([]string{"gitops", "promote/check", "promote/guard", "promote/record", "promote/review"}, imported),
		name == "promote/guard" && slices.Contains([]string{"argo", "promote/check", "promote/event", "promote/gate", "promote/record", "promote/review"}, imported),
		slices.Contains([]string{"promote/event", "promote/report"}, name) && slices.Contains([]string{"argo", "gitops", "promote/check"}, imported),
		top(name) == "promote" && (imported == "promote/github" && name != "promote/gitea" || imported == "promote/gitea"):
		return true
	}
	return name == "promote" && slices.Contains([]string{"os", "os/exec", "flag", "log", "syscall"}, imported)
}

// TestMisplaced has what the design rules out, and that it is found.
func TestMisplaced(t *testing.T) {
	t.Parallel()
	tower := imports{}
	for i := range mostLevels {
		tower[fmt.Sprintf("cmd/%d", i)] = []string{fmt.Sprintf("cmd/%d", i+1)}
	}
	tower[fmt.Sprintf("cmd/%d", mostLevels)] = nil
	good := imports{
		"cmd/x": {"fmt", "cmd/x/inputs", "promote", "gitops/knative", "internal/oneline"}, "cmd/x/inputs": {"os", "cmd/x/console", "argo"}, "cmd/x/console": nil,
		"promote": {"promote/ask", "promote/check", "promote/facts", "promote/gate", "promote/guard", "argo", "gitops"}, "promote/source": {"promote/event", "promote/overlay"}, "promote/journal": {"promote/event", "promote/plan"}, "promote/live": {"promote/plan"}, "promote/proposal": {"promote/check", "promote/commit", "promote/guard"}, "promote/commit": {"promote/plan", "promote/review"}, "promote/destination": {"promote/journal", "promote/live", "promote/overlay"}, "promote/overlay": {"promote/plan"}, "promote/plan": {"argo", "gitops", "promote/record"}, "promote/guard": {"gitops", "promote/pipeline", "promote/windows"}, "promote/ask": {"promote/gate", "promote/journal", "promote/plan"}, "promote/facts": {"promote/check", "promote/gate", "promote/guard"}, "promote/gate": {"argo", "promote/slo"}, "promote/check": {"gitops/knative", "argo"}, "promote/report": {"promote/event"}, "promote/event": {"promote/record"}, "promote/record": nil, "promote/gitea": {"promote/github"},
		"promote/github": {"internal/oneline"}, "promote/pipeline": {"internal/strictyaml"}, "internal/strictyaml": {"internal/oneline"}, "promote/manifest": {"strings"}, "argo": {"internal/oneline"}, "internal/fake/argotest": {"gitops/kustomize"}, "cmd/sandbox": {"internal/fake/argotest"},
		"gitops": {"github.com/go-git/go-git/v5", "gitops/remote", "gitops/store", "internal/oneline"}, "gitops/store": {"github.com/go-git/go-git/v5", "gitops/remote"}, "gitops/remote": {"github.com/go-git/go-git/v5"}, "gitops/knative": {"gitops/kustomize"}, "gitops/kustomize": nil, "internal/oneline": {"unicode"},
	}
	if wrong := good.misplaced(); wrong != nil {
		t.Errorf("the design itself is found to be wrong: %q", wrong)
	}
	for _, bad := range [][2]string{
		{"promote", "cmd/x/inputs"}, {"promote/check", "promote"}, {"promote/report", "promote/github"}, {"promote/report", "promote"}, {"promote/report", "promote/check"}, {"promote/event", "argo"}, {"promote/gate", "promote/record"}, {"promote/ask", "promote/guard"}, {"promote/guard", "promote/check"}, {"promote/plan", "promote/gate"}, {"promote", "promote/gitea"}, {"promote/manifest", "internal/oneline"}, {"promote/slo", "internal/oneline"}, {"promote/windows", "gitops"}, {"promote/event", "gitops/remote"}, {"promote", "gitops/store"}, {"promote/pipeline", "promote/windows"}, {"promote/compare", "promote/requests"},
		{"argo", "gitops"}, {"argo", "argo/wire"}, {"argo", "internal/fake/argotest"}, {"cmd/x", "internal/fake/argotest"}, {"internal/oneline", "internal/fake/golden"}, {"gitops", "argo"},
		{"gitops/knative", "gitops"}, {"gitops", "promote/check"}, {"cmd/x/inputs", "cmd/x"}, {"internal/oneline", "gitops"},
	} {
		graph := imports{bad[0]: {bad[1]}, bad[1]: nil}
		if diff := cmp.Diff([]string{bad[0] + " imports " + bad[1]}, graph.misplaced()); diff != "" {
			t.Errorf("%s imports %s (-want +got):\n%s", bad[0], bad[1], diff)
		}
	}
	for want, bad := range map[string]imports{
		"helpers stands in none of the folders of the design": {"helpers": nil},
		"promote imports os": {"promote": {"fmt", "os"}},
		"gitops/kustomize imports github.com/go-git/go-git/v5":                                                                          {"gitops/kustomize": {"github.com/go-git/go-git/v5"}},
		"cmd/0 stands on 9 levels of packages of its folder, expected 8 at most: cmd/0 cmd/1 cmd/2 cmd/3 cmd/4 cmd/5 cmd/6 cmd/7 cmd/8": tower,
	} {
		if diff := cmp.Diff([]string{want}, bad.misplaced()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want, diff)
		}
	}
}
