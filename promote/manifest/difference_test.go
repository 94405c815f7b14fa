package manifest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/golden"
)

// planted are the secrets of the cases, and what JWTs of them look like.
var planted = regexp.MustCompile(`SECRET[A-Za-z]|eyJTRU`)

func TestDiff(t *testing.T) {
	t.Parallel()
	golden.Run(t, "testdata/diff/*.txtar", "diff", func(t *testing.T, parts map[string][]byte) string {
		before, after := parts["before.yaml"], parts["after.yaml"]
		diff, back := Compare(before, after), Compare(after, before)
		for _, d := range []Difference{diff, back} {
			if text := everything(d); planted.MatchString(text) {
				t.Errorf("a secret in:\n%s", text)
			}
			checkFields(t, d)
		}
		if len(diff) == 0 != (len(back) == 0) {
			t.Errorf("a change in one direction only")
		}
		if same := Compare(before, before); len(same) > 0 {
			t.Errorf("a text differs from itself:\n%s", same)
		}
		return diff.String()
	})
}

func TestDiffHidesLengths(t *testing.T) {
	t.Parallel()
	manifest := func(secret string) []byte {
		return fmt.Appendf(nil, "kind: Secret\nmetadata: {name: a}\ndata:\n  p: %s\n", secret)
	}
	short, long := Compare(manifest("a"), manifest("b")).String(), Compare(manifest("a"), manifest(strings.Repeat("b", 500))).String()
	if short != long || !strings.Contains(short, "+  p: <hidden, changed>") {
		t.Errorf("a short secret gives\n%s\na long one\n%s", short, long)
	}
}

func TestDiffOfTheTokensThemselves(t *testing.T) {
	t.Parallel()
	before := []byte("kind: Secret\nmetadata: {name: hidden-0-}\ndata: {a: hidden-1-, b: hiddenx-0-}\n")
	after := []byte("kind: Secret\nmetadata: {name: hidden-0-}\ndata: {a: hidden-2-, b: hiddenx-0-}\nx: hidden-0-\n")
	diff := Compare(before, after).String()
	if !strings.Contains(diff, "+x: hidden-0-\n") || strings.Contains(diff, "hidden-1-") || strings.Contains(diff, "hidden-2-") {
		t.Errorf("got\n%s", diff)
	}
}

func TestAliasOfItselfEnds(t *testing.T) {
	t.Parallel()
	if diff := Compare(nil, []byte("kind: Secret\nmetadata: {name: a}\ndata: &d\n  a: x\n  b: *d\n")).String(); strings.Contains(diff, "a: x") {
		t.Errorf("got\n%s", diff)
	}
}

// FuzzDiff plants a secret where secrets stand and looks for it in the diff.
func FuzzDiff(f *testing.F) {
	f.Add("kind: ConfigMap\nmetadata: {name: a}\n", "hunter2hunter2", "x")
	f.Add("a: &x [1]\nb: *x\n", "multi\nline\nsecret", "- y")
	f.Add("kind: A\na: {b: [1, {name: ä}], c: ~}\n", "s", "kind: A\na: {b: [2, {name: ö}], c: null, d.e: \"x\\ny\"}\n")
	f.Add("---\n---\n", "'quo\"ted' \\ secret", "kind: List\nitems: []")
	f.Fuzz(func(t *testing.T, manifest, secret, other string) {
		const canary = "CANARY4711"
		if strings.Contains(manifest+other, canary) {
			return
		}
		quoted := fmt.Sprintf("%q", canary+strings.ToValidUTF8(secret, "?")+canary)
		full := fmt.Sprintf("kind: Secret\nmetadata: {name: a}\ndata: {p: %[1]s, other: %[2]q}\n---\nkind: B\nmetadata: {name: b}\nspec:\n"+
			"- {name: DB_PASSWORD, value: %[1]s}\n- api_token: %[1]s\n- args: [--secret, %[1]s]\n- args: [\"--token=CANARY4711\"]\n", quoted, other)
		rotated := strings.ReplaceAll(full, canary, canary+"0")
		for _, d := range []Difference{
			Compare([]byte(manifest), []byte(full)), Compare([]byte(full), []byte(manifest)), Compare([]byte(full), []byte(manifest+"\n---\n"+full)),
			Compare([]byte(full), []byte(rotated)), Compare([]byte(manifest), []byte(other)),
		} {
			if text := everything(d); strings.Contains(text, canary) {
				t.Errorf("secret %s in\n%s", quoted, text)
			}
			checkFields(t, d)
			checkNarrowed(t, d)
		}
	})
}

// checkNarrowed holds that fewer lines around a change leave the changed lines.
func checkNarrowed(t *testing.T, d Difference) {
	t.Helper()
	for i, narrowed := range d.Narrow(0) {
		added, removed := d[i].Size()
		more, fewer := narrowed.Size()
		if added != more || removed != fewer || narrowed.Name != d[i].Name || len(narrowed.Fields) != len(d[i].Fields) {
			t.Errorf("%s: narrowed to +%d -%d and %d fields of +%d -%d and %d", d[i].Name, more, fewer, len(narrowed.Fields), added, removed, len(d[i].Fields))
		}
		for _, h := range narrowed.Hunks {
			if slices.ContainsFunc(h.Lines, func(line Line) bool { return line.Sign == Both }) {
				t.Errorf("%s: an unchanged line is left in\n%s", d[i].Name, h)
			}
		}
	}
}

func TestNarrowedDiffStillApplies(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 60 {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%20 != 7 {
			fmt.Fprintf(&after, "line %d\n", i)
		}
		if i%20 == 9 {
			fmt.Fprintf(&after, "-- new\n++ line\n")
		}
	}
	full := Difference{{Name: "x", Change: Changed, Hunks: hunks(before.String(), after.String())}}
	for around, want := range map[int]int{3: 3, 1: 3, 0: 6} {
		d := full.Narrow(around)
		if len(d[0].Hunks) != want {
			t.Errorf("%d lines around: %d hunks, want %d", around, len(d[0].Hunks), want)
		}
		if got := applied(t, before.String(), d.String()); got != after.String() {
			t.Errorf("%d lines around: git makes of it\n%s", around, got)
		}
	}
}

// applied is what git makes of a file x and a diff.
func applied(t *testing.T, before, diff string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "x"), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "-p0", "--unidiff-zero")
	apply.Dir, apply.Stdin = folder, strings.NewReader(diff)
	if output, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, output, diff)
	}
	got, err := os.ReadFile(filepath.Join(folder, "x"))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// resources is a manifest of n objects of 40 lines.
func resources(n int, version string) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: s%d\nspec:\n  template:\n    spec:\n      containers:\n      - image: acme/app:%s\n        env:\n", i, version)
		for j := range 15 {
			fmt.Fprintf(&b, "        - name: VARIABLE_%d\n          value: https://example.com/%d?x=y\n", j, i)
		}
	}
	return b.Bytes()
}

func BenchmarkDiffOf500Resources(b *testing.B) {
	before, after := resources(500, "v1"), resources(500, "v2")
	for b.Loop() {
		if len(Compare(before, after)) == 0 {
			b.Fatal("no change")
		}
	}
}
