package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/acme/knative-promote/internal/apart"
	"github.com/acme/knative-promote/internal/fake/golden"
)

// working is the argument of the process that works for the tests of this package.
const working = "work-apart"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == working {
		apart.Serve(os.Stdin, os.Stdout, 160<<20, os.Exit, Apart)
		return
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	apart.By(self, working)
	os.Exit(m.Run())
}

// TestDenials evaluates the policies of each case on its manifests. What an
// object was rendered as before is in before.yaml.
func TestDenials(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/denials/*.txtar", "want", func(t *testing.T, parts map[string][]byte) string {
		set, err := Read(t.Context(), tree(parts), []string{"policies/*.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := set.Evaluate(t.Context(), "shop", objects(t, parts["before.yaml"]), objects(t, parts["after.yaml"]))
		if err != nil {
			t.Fatal(err)
		}
		return inFull(answer)
	})
}

// TestRefused has files that are no policies for here, and what is said of them.
func TestRefused(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/refused/*.txtar", "want", func(t *testing.T, parts map[string][]byte) string {
		_, err := Read(t.Context(), tree(parts), []string{"policies/*.yaml"})
		if err == nil {
			t.Fatal("no error")
		}
		return err.Error() + "\n"
	})
}

func tree(parts map[string][]byte) fstest.MapFS {
	files := fstest.MapFS{}
	for name, content := range parts {
		if strings.HasPrefix(name, "policies/") {
			files[name] = &fstest.MapFile{Data: content}
		}
	}
	return files
}

func objects(t *testing.T, manifest []byte) []unstructured.Unstructured {
	t.Helper()
	var all []unstructured.Unstructured
	for _, document := range strings.Split(string(manifest), "\n---\n") {
		var o map[string]any
		if err := utilyaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		if o != nil {
			all = append(all, unstructured.Unstructured{Object: o})
		}
	}
	return all
}

func inFull(a Answer) string {
	var b strings.Builder
	for _, d := range a.Denials {
		how := "denies"
		if d.Warns {
			how = "warns of"
		}
		if d.Failed {
			how += " (not evaluated)"
		}
		if !d.Applied {
			how += " (not applied)"
		}
		fmt.Fprintf(&b, "%s of %s %s %s/%s: %s\n", d.Policy, d.File, how, cmp.Or(d.Made, d.Object.GetKind()), d.Object.GetName(), d.Message)
		if d.Expression != "" {
			fmt.Fprintf(&b, "  %s\n", d.Expression)
		}
	}
	for _, u := range a.Unmatched {
		fmt.Fprintf(&b, "%s of %s matches nothing\n", u.Policy, u.File)
	}
	return b.String()
}

// text is a policy about Knative Services, with these lines in its spec.
func text(name string, spec ...string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: " + name + "}\nspec:\n" +
		"  matchConstraints: {resourceRules: [{apiGroups: [serving.knative.dev], apiVersions: ['*'], operations: ['*'], resources: [services]}]}\n" +
		"  " + strings.Join(spec, "\n  ") + "\n"
}

const service = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{image: web}]}}}\n"

// TestHostile has policies that are too large, too many or too deep, and
// expressions that would not end: each is refused or denied.
func TestHostile(t *testing.T) {
	t.Parallel()
	loop := "[1,2,3,4,5,6,7,8,9,10]"
	for range 12 {
		loop = "[1,2,3,4,5,6,7,8,9,10].map(x, " + loop + ")"
	}
	tests := map[string]struct{ expression, want string }{
		"endless":  {"size(" + loop + ") == 0", "cost"},
		"deep":     {strings.Repeat("(", 5000) + "true" + strings.Repeat(")", 5000), "recursion"},
		"long":     {"'" + strings.Repeat("x", 200_000) + "' == ''", "size"},
		"growing":  {"['x','x','x','x'].all(a, ['y','y','y','y'].all(b, " + "'z'." + strings.Repeat("replace('z', 'zzzzzzzzzz').", 10) + "size() < 0))", "cost"},
		"patterns": {"'" + strings.Repeat("a", 30_000) + "'.matches('(a*)*(a*)*(a*)*b') || '" + strings.Repeat("a", 30_000) + "'.matches('(a*)*(a*)*(a*)*c')", "failed expression"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := saidOf(t, fstest.MapFS{"p.yaml": {Data: []byte(text(name, "validations:", "- expression: "+fmt.Sprintf("%q", test.expression)))}})
			if !strings.Contains(got, test.want) || len(got) > 2000 {
				t.Errorf("said in %d bytes: %.2000s", len(got), got)
			}
		})
	}
	t.Run("large file", func(t *testing.T) {
		t.Parallel()
		content := []byte(strings.Repeat("# x\n", fileLimit/4) + "#")
		if got, want := saidOf(t, fstest.MapFS{"p.yaml": {Data: content}}), "p.yaml: it has 1048577 bytes: expected 1048576 at most"; got != want {
			t.Errorf("said %s, want %s", got, want)
		}
	})
	for name, bomb := range map[string]string{
		"an alias bomb":    "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a, ", 100_000) + "]",
		"an endless alias": "a: &a [*a]",
		"deep":             strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := saidOf(t, fstest.MapFS{"p.yaml": {Data: []byte(bomb)}}); !strings.HasPrefix(got, "p.yaml: is longer than 2097152 bytes with its aliases") && got != "p.yaml: is nested more than 100 levels deep" {
				t.Errorf("said %.300s", got)
			}
		})
	}
	t.Run("many files", func(t *testing.T) {
		t.Parallel()
		many := fstest.MapFS{}
		for i := range mostFiles + 1 {
			many[fmt.Sprintf("p%d.yaml", i)] = &fstest.MapFile{Data: []byte("x")}
		}
		if got := saidOf(t, many); got != "101 files match: expected 100 at most" {
			t.Errorf("said %s", got)
		}
	})
}

// TestEnds has expressions that double what they make with each word, of which neither compiling nor evaluating keeps
// count.
func TestEnds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	doubling := "validations: [{expression: 'optional.of(1)" + strings.Repeat(".optMap(x, x)", 20) + ".hasValue()'}]"
	if _, err := Read(ctx, fstest.MapFS{"p.yaml": {Data: []byte(text("p", doubling))}}, []string{"p.yaml"}); !errors.Is(err, apart.ErrLate) {
		t.Errorf("what takes twice as long to compile with each word: %v", err)
	}
	var lists strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lists, "\n  - {name: l%d, expression: '[variables.l%d, variables.l%d]'}", i+1, i, i)
	}
	written := "variables:\n  - {name: l0, expression: '[1, 2]'}" + lists.String() + "\n  validations: [{expression: \"size('%s'.format([variables.l40])) > 1\"}]"
	set, err := Read(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(text("p", written))}}, []string{"p.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Evaluate(t.Context(), "shop", nil, objects(t, []byte(service)))
	const ended = "the evaluation of policies ended on this input: it takes more than 160 MiB of memory"
	if !errors.Is(err, apart.ErrLate) && fmt.Sprint(err) != ended { // on a slow machine its time is over before its memory is
		t.Errorf("what takes twice the memory to evaluate with each word: %v", err)
	}
}

// TestManyDenials has as many as nobody reads, each of a large object.
func TestManyDenials(t *testing.T) {
	t.Parallel()
	var spec strings.Builder
	spec.WriteString("validations:")
	for i := range 500 {
		fmt.Fprintf(&spec, "\n  - {expression: '%d < 0'}", i)
	}
	set, err := Read(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(text("p", spec.String()))}}, []string{"p.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	large := objects(t, []byte(service+"status: {x: "+strings.Repeat("x", 1<<20)+"}\n"))
	if answer, err := set.Evaluate(t.Context(), "shop", nil, large); err != nil || len(answer.Denials) != 500 || answer.Denials[0].Object.GetName() != "web" {
		t.Errorf("%d denials, %v", len(answer.Denials), err)
	}
	var many []string
	for i := range 21 {
		many = append(many, strings.Replace(service, "web", fmt.Sprint("web", i), 1))
	}
	const want = "they say more than 10000 things of the overlay: expected fewer"
	if _, err := set.Evaluate(t.Context(), "shop", nil, objects(t, []byte(strings.Join(many, "\n---\n")))); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// saidOf is the error of reading policies, or else what they say of a Service.
func saidOf(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	set, err := Read(t.Context(), files, []string{"*.yaml"})
	if err != nil {
		return err.Error()
	}
	answer, err := set.Evaluate(t.Context(), "shop", nil, objects(t, []byte(service)))
	if err != nil {
		t.Fatal(err)
	}
	return inFull(answer)
}

// TestCancelled has a run that ends: it is no denial, and no pass.
func TestCancelled(t *testing.T) {
	t.Parallel()
	set, err := Read(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(text("p", "validations: [{expression: 'true'}]"))}}, []string{"p.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if answer, err := set.Evaluate(ctx, "shop", nil, objects(t, []byte(service))); !errors.Is(err, context.Canceled) || answer.Denials != nil {
		t.Errorf("got %v, %v", answer, err)
	}
}

// TestZero evaluates no policies.
func TestZero(t *testing.T) {
	t.Parallel()
	if answer, err := (Set{}).Evaluate(t.Context(), "", nil, objects(t, []byte(service))); err != nil || answer.Denials != nil {
		t.Errorf("got %v, %v", answer, err)
	}
}
