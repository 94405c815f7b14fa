package proposed

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/proposal"
)

// TestSmallChangeOfMuch compares what adds one large base many times: it is shown as far as memory
// is bounded, and of the others it is said that nobody has looked.
func TestSmallChangeOfMuch(t *testing.T) {
	t.Parallel()
	const users, most = 6, 100 << 10
	tree := fstest.MapFS{
		"base/kustomization.yaml": {Data: []byte("resources: [map.yaml]\n")},
		"base/map.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata:\n  long: " +
			strings.Repeat("a", most/(users-1)) + "\n")},
	}
	changed := []string{"base/kustomization.yaml", "base/map.yaml"}
	for i := range users {
		file := fmt.Sprintf("o%d/kustomization.yaml", i)
		tree[file], changed = &fstest.MapFile{Data: []byte("resources: [../base]\n")}, append(changed, file)
	}
	base, head := gitops.Snapshot{Tree: fstest.MapFS{}}, gitops.Snapshot{Tree: tree}
	p, err := proposal.Propose(t.Context(), proposal.Settings{}, proposal.Pull{Base: base, Merged: head})
	if err != nil {
		t.Fatal(err)
	}
	all, err := comparison{base: base, head: head, proposal: p, most: most}.look(t.Context(), changed)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range all.overlays {
		got = append(got, fmt.Sprintf("%s changed %v, kept %d, %s", o.Path, len(o.Difference) > 0, len(o.Before)+len(o.After), o.Err))
	}
	var want []string
	for i := range users - 1 {
		want = append(want, fmt.Sprintf("o%d changed true, kept 0, ", i))
	}
	for _, path := range []string{"o5", "base"} {
		want = append(want, path+" changed false, kept 0, not rendered, as what is before it changes over 100 KiB already: split the change")
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
