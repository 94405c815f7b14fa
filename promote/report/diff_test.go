package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// planted are the secrets of the cases, and what JWTs of them look like.
var planted = regexp.MustCompile(`SECRET[A-Za-z]|eyJ`)

func TestDiff(t *testing.T) {
	t.Parallel()
	golden(t, "diff", "diff", func(t *testing.T, parts map[string][]byte) string {
		before, after := parts["before.yaml"], parts["after.yaml"]
		diff := Diff(before, after)
		if planted.MatchString(diff) {
			t.Errorf("a secret in:\n%s", diff)
		}
		back := Diff(after, before)
		if planted.MatchString(back) {
			t.Errorf("a secret in the reverse:\n%s", back)
		}
		if (diff == "") != (back == "") {
			t.Errorf("a change in one direction only")
		}
		if same := Diff(before, before); same != "" {
			t.Errorf("a text differs from itself:\n%s", same)
		}
		return diff
	})
}

func TestDiffHidesLengths(t *testing.T) {
	t.Parallel()
	manifest := func(secret string) []byte {
		return fmt.Appendf(nil, "kind: Secret\nmetadata: {name: a}\ndata:\n  p: %s\n", secret)
	}
	short, long := Diff(manifest("a"), manifest("b")), Diff(manifest("a"), manifest(strings.Repeat("b", 500)))
	if short != long || !strings.Contains(short, "+  p: <hidden, changed>") {
		t.Errorf("a short secret gives\n%s\na long one\n%s", short, long)
	}
}

func TestDiffOfTheTokensThemselves(t *testing.T) {
	t.Parallel()
	before := []byte("kind: Secret\nmetadata: {name: hidden-0-}\ndata: {a: hidden-1-, b: hiddenx-0-}\n")
	after := []byte("kind: Secret\nmetadata: {name: hidden-0-}\ndata: {a: hidden-2-, b: hiddenx-0-}\nx: hidden-0-\n")
	diff := Diff(before, after)
	if !strings.Contains(diff, "+x: hidden-0-\n") || strings.Contains(diff, "hidden-1-") || strings.Contains(diff, "hidden-2-") {
		t.Errorf("got\n%s", diff)
	}
}

func TestAliasOfItselfEnds(t *testing.T) {
	t.Parallel()
	if diff := Diff(nil, []byte("kind: Secret\nmetadata: {name: a}\ndata: &d\n  a: x\n  b: *d\n")); strings.Contains(diff, "a: x") {
		t.Errorf("got\n%s", diff)
	}
}

func TestReasonsQuoteNoSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"invalid session: token: expired":                             "`invalid session: token: expired`",
		"GET https://bot:SECRETa/b@git.example.com/x: 401":            "`GET https://<hidden>@git.example.com/x: 401`",
		"header Authorization: Bearer SECRETbbbbbbbbbbbb was refused": "`header Authorization: Bearer <hidden> was refused`",
		"patch {\"key\":\"-----BEGIN RSA PRIVATE KEY-----SECRETc":     "`patch {\"key\":\"<hidden>`",
		"": "–",
	} {
		if got := reason(text, maxReason); got != want {
			t.Errorf("reason(%q) = %s, want %s", text, got, want)
		}
	}
}

// FuzzDiff plants a secret where secrets stand and looks for it in the diff.
func FuzzDiff(f *testing.F) {
	f.Add("kind: ConfigMap\nmetadata: {name: a}\n", "hunter2hunter2", "x")
	f.Add("a: &x [1]\nb: *x\n", "multi\nline\nsecret", "- y")
	f.Add("---\n---\n", "'quo\"ted' \\ secret", "kind: List\nitems: []")
	f.Fuzz(func(t *testing.T, manifest, secret, other string) {
		const canary = "CANARY4711"
		if strings.Contains(manifest+other, canary) {
			return
		}
		quoted := fmt.Sprintf("%q", canary+strings.ToValidUTF8(secret, "?")+canary)
		full := fmt.Sprintf("kind: Secret\nmetadata: {name: a}\ndata: {p: %[1]s, other: %[2]q}\n---\nkind: B\nmetadata: {name: b}\nspec:\n"+
			"- {name: DB_PASSWORD, value: %[1]s}\n- api_token: %[1]s\n- args: [--secret, %[1]s]\n- args: [\"--token=CANARY4711\"]\n", quoted, other)
		for _, diff := range []string{
			Diff([]byte(manifest), []byte(full)), Diff([]byte(full), []byte(manifest)), Diff([]byte(full), []byte(manifest+"\n---\n"+full)),
		} {
			if strings.Contains(diff, canary) {
				t.Errorf("secret %s in\n%s", quoted, diff)
			}
			checkParse(t, diff, parse(diff))
		}
	})
}

// checkParse holds that a parsed diff says the same again, and that fewer
// lines around a change leave the changed lines.
func checkParse(t *testing.T, diff string, changes []change) {
	t.Helper()
	var again strings.Builder
	for _, c := range changes {
		again.WriteString(c.String())
		added, removed := 0, 0
		for _, h := range c.narrow(0).hunks {
			for _, line := range h.lines {
				added += strings.Count(line[:1], "+")
				removed += strings.Count(line[:1], "-")
			}
		}
		if added != c.added || removed != c.removed {
			t.Errorf("%s: narrowed to +%d -%d of +%d -%d", c.name, added, removed, c.added, c.removed)
		}
	}
	if again.String() != diff {
		t.Errorf("parsed and written again:\n%s\nwant:\n%s", again.String(), diff)
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
	changes := parse(unified("x", "x", before.String(), after.String()))
	for level, want := range map[int]int{3: 3, 1: 3, 0: 6} {
		c := changes[0].narrow(level)
		if len(c.hunks) != want {
			t.Errorf("%d lines around: %d hunks, want %d", level, len(c.hunks), want)
		}
		if got := applied(t, before.String(), c.String()); got != after.String() {
			t.Errorf("%d lines around: git makes of it\n%s", level, got)
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
		if Diff(before, after) == "" {
			b.Fatal("no change")
		}
	}
}
