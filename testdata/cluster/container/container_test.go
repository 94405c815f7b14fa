package container

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What cannot run says what to install.
func TestStartSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), "../../..")
	if err == nil || !strings.HasPrefix(err.Error(), "running the action's image: podman, buildah, git") ||
		!strings.HasSuffix(err.Error(), "not found; install with: "+Packages) {
		t.Errorf("error %v", err)
	}
}

func TestBaseOf(t *testing.T) {
	t.Parallel()
	const dockerfile = "# golang:1 is the base\nFROM --platform=$BUILDPLATFORM golang:1.26.8@sha256:3c3e AS build\nRUN true\nFROM scratch\n"
	from, err := baseOf(dockerfile)
	if from != "golang:1.26.8@sha256:3c3e" || err != nil {
		t.Errorf("base %q, %v", from, err)
	}
	if _, err := baseOf("FROM scratch\n"); err == nil {
		t.Error("a Dockerfile without golang is taken")
	}
}

func TestLibrariesOf(t *testing.T) {
	t.Parallel()
	const ldd = `	linux-vdso.so.1 (0x00007ffe1b5f2000)
	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0d5a200000)
	/lib64/ld-linux-x86-64.so.2 (0x00007f0d5a4f7000)
`
	if got, want := librariesOf(ldd), []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"}; !slices.Equal(got, want) {
		t.Errorf("libraries %q, want %q", got, want)
	}
	if got := librariesOf("	statically linked\n"); len(got) > 0 {
		t.Errorf("libraries %q of a static program", got)
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	const log = `{"job":"deploy/build","jobID":"build","step":"acme/other@v1","msg":"hello\n","raw_output":true}
{"job":"deploy/build","jobID":"build","jobResult":"success","msg":"🏁  Job succeeded"}
{"jobID":"promote","step":"acme/knative-promote@v1","command":"error","kvPairs":{"title":"Failed","file":"a.yaml"},"arg":"it broke","msg":"❗"}
{"jobID":"promote","step":"acme/knative-promote@v1","command":"summary","content":"## Broken","msg":"Summary"}
{"jobID":"promote","jobResult":"failure","msg":"🏁  Job failed"}
`
	journal, err := readJournal(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	got := [][]string{
		journal.Jobs(), journal.Annotations("error"), journal.Annotations("warning"), journal.Summaries(),
		{journal.Text(), journal.Of("acme/knative-promote").Text()},
	}
	want := [][]string{
		{"build success", "promote failure"}, {"Failed: it broke"}, nil, {"## Broken"},
		{"hello\n🏁  Job succeeded\n❗\nSummary\n🏁  Job failed\n", "❗\nSummary\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	if _, err := readJournal(strings.NewReader("Error: no such file\n")); err == nil {
		t.Error("words are taken for a journal")
	}
}

func TestUsed(t *testing.T) {
	t.Parallel()
	w := Workflow{
		Text:    "    - uses: acme/knative-promote@v1\n    - uses: actions/checkout@3d3c # v7\n    - uses: docker/login-action@4907 # v4\n",
		Actions: map[string]string{"acme/knative-promote": "/a", "docker/login-action": "/b"},
	}
	want := map[string]string{"acme/knative-promote@v1": "/a", "docker/login-action@4907": "/b"}
	if diff := cmp.Diff(want, used(w)); diff != "" {
		t.Errorf("local actions (-want +got):\n%s", diff)
	}
}
