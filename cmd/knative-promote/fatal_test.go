package main

import (
	"fmt"
	"go/types"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// fatal are the functions that end the process, or make a panic of an error.
var fatal = regexp.MustCompile(`OrDie$|^(\(\*)?(log|github\.com/sirupsen/logrus|k8s\.io/klog/v2|google\.golang\.org/grpc/grpclog)\..*Fatal[a-zA-Z]*$`)

// known are the calls of them that the program could come to by what types
// allow, with why it does not, or may.
var known = map[string]string{
	"(*github.com/sirupsen/logrus.Entry).Fatal$bound calls (*github.com/sirupsen/logrus.Entry).Fatal": "a writer of that level, which nobody asks for",
	"(*net/http.Transport).tryPutIdleConn calls log.Fatalf":                                           "a connection that is idle twice, which net/http rules out",
	"(github.com/aymanbagabas/go-udiff/lcs.lcs).fix calls log.Fatalf":                                 "a mistake in the diff's own result",

	"(*k8s.io/apimachinery/pkg/runtime.unstructuredConverter).FromUnstructuredWithValidation calls k8s.io/klog/v2.Fatalf": "only with KUBE_PATCH_CONVERSION_DETECTOR",
	"(*k8s.io/apimachinery/pkg/runtime.unstructuredConverter).ToUnstructured calls k8s.io/klog/v2.Fatalf":                 "only with KUBE_PATCH_CONVERSION_DETECTOR",
	"(k8s.io/apimachinery/pkg/runtime.multiGroupVersioner).Identifier calls k8s.io/klog/v2.Fatalf":                        "strings that cannot become JSON",
	"k8s.io/apimachinery/pkg/runtime/serializer/json.identifier calls k8s.io/klog/v2.Fatalf":                              "strings that cannot become JSON",
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning.identifier calls k8s.io/klog/v2.Fatalf":                        "strings that cannot become JSON",

	"(*sigs.k8s.io/kustomize/api/resource.Factory).makeOne calls log.Fatal":                         "no node, where the caller has just made one",
	"(*sigs.k8s.io/kustomize/api/resource.Resource).MustYaml calls log.Fatal":                       "what was read as YAML is written as YAML",
	"(*sigs.k8s.io/kustomize/kyaml/yaml.RNode).SetBinaryDataMap calls log.Fatal":                    "the field that could be in the way is removed before",
	"(*sigs.k8s.io/kustomize/kyaml/yaml.RNode).SetDataMap calls log.Fatal":                          "the field that could be in the way is removed before",
	"(sigs.k8s.io/kustomize/kyaml/filesys.fsOnDisk).CleanedAbs calls log.Fatalf":                    "renders do not get the disk",
	"sigs.k8s.io/kustomize/api/internal/accumulator.newNameReferenceTransformer calls log.Fatal":    "kustomize's own defaults are never none",
	"sigs.k8s.io/kustomize/api/internal/plugins/builtinconfig.MakeDefaultConfig$1 calls log.Fatalf": "kustomize's own defaults are good",

	"github.com/argoproj/argo-cd/v2/util/config.init#1 calls github.com/sirupsen/logrus.Fatal":                           "at the start, where ARGOCD_OPTS has an open quote",
	"k8s.io/apimachinery/pkg/api/equality.init calls k8s.io/apimachinery/pkg/conversion.EqualitiesOrDie":                 "at the start, with constants",
	"k8s.io/apimachinery/pkg/runtime.init calls k8s.io/apimachinery/pkg/conversion.EqualitiesOrDie":                      "at the start, with constants",
	"k8s.io/apimachinery/pkg/util/managedfields.init calls sigs.k8s.io/structured-merge-diff/v4/fieldpath.MakePathOrDie": "at the start, with constants",
	"k8s.io/kubectl/pkg/cmd/apply.init calls sigs.k8s.io/structured-merge-diff/v4/fieldpath.MakePathOrDie":               "at the start, with constants",
	"k8s.io/kubectl/pkg/describe.init#1 calls k8s.io/klog/v2.Fatalf":                                                     "at the start, with constants",
	"sigs.k8s.io/structured-merge-diff/v4/typed.init calls sigs.k8s.io/structured-merge-diff/v4/typed.createOrDie":       "at the start, with constants",
	"github.com/grpc-ecosystem/grpc-gateway/runtime.MustPattern calls google.golang.org/grpc/grpclog.Fatalf":             "at the start, with constants",

	"github.com/argoproj/pkg/time.ParseDuration calls log.Fatal":                                            "Argo CD's retries of a sync, which its controller counts",
	"k8s.io/kubectl/pkg/cmd/util.fatal calls k8s.io/klog/v2.FatalDepth":                                     "kubectl's commands, which nobody runs",
	"k8s.io/kubectl/pkg/polymorphichelpers.applyRevision calls k8s.io/apimachinery/pkg/runtime.EncodeOrDie": "kubectl's commands, which nobody runs",
}

// TestNobodyEndsTheProcess looks for calls, in anything that main can reach,
// of functions that end the process: a promotion has to roll back what it did.
// Without -all, it looks at what we have written.
func TestNobodyEndsTheProcess(t *testing.T) {
	t.Parallel()
	if !*more && !*all {
		t.Skip("without -more: it compiles everything that the program is made of")
	}
	found, want := ownFatalCalls(t), []string{}
	if *all {
		found, want = reachableFatalCalls(t), slices.Sorted(maps.Keys(known))
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("calls that end the process (-known +found):\n%s", diff)
	}
}

// ownFatalCalls are those in the program's own packages, with their places.
func ownFatalCalls(t *testing.T) []string {
	t.Helper()
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Mode: mode}, ourPackages(t)...)
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatal(err)
	}
	var found []string
	for _, p := range loaded {
		for name, used := range p.TypesInfo.Uses {
			if function, is := used.(*types.Func); is && (fatal.MatchString(function.FullName()) || function.FullName() == "os.Exit") {
				found = append(found, fmt.Sprintf("%s at %s", function.FullName(), p.Fset.Position(name.Pos())))
			}
		}
	}
	if !slices.ContainsFunc(found, exitOfMain.MatchString) {
		t.Error("not even the one of main is found")
	}
	return slices.DeleteFunc(found, func(call string) bool { return exitOfMain.MatchString(call) })
}

// exitOfMain is how the program ends.
var exitOfMain = regexp.MustCompile(`^os\.Exit at .*/cmd/knative-promote/main\.go:`)

// ourPackages are those that the program is made of and that are ours.
func ourPackages(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return !strings.HasPrefix(name, "github.com/acme/knative-promote/") })
}

// reachableFatalCalls are those in anything that main can reach.
func reachableFatalCalls(t *testing.T) []string {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, ".")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatal(err)
	}
	program, made := ssautil.AllPackages(loaded, ssa.InstantiateGenerics)
	program.Build()
	reachable := rta.Analyze([]*ssa.Function{made[0].Func("main"), made[0].Func("init")}, true)
	calls := map[string]bool{}
	for function, node := range reachable.CallGraph.Nodes {
		if function == nil || !fatal.MatchString(function.String()) {
			continue
		}
		for _, in := range node.In {
			direct := in.Site != nil && in.Site.Common().StaticCallee() == function // else it is one of any type that fits
			if direct && !fatal.MatchString(in.Caller.Func.String()) {
				calls[describeCall(in)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(calls))
}

func describeCall(edge *callgraph.Edge) string {
	return edge.Caller.Func.String() + " calls " + edge.Callee.Func.String()
}
