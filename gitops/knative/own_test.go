package knative_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops/knative"
)

// TestOwnFilesOfTwoServices has no Service's file where another one's goes.
func TestOwnFilesOfTwoServices(t *testing.T) {
	t.Parallel()
	tree := liveTree(liveManifest + "---\n" + strings.ReplaceAll(liveManifest, "shop", "shop-defaults"))
	var all []string
	for _, service := range []string{"shop", "shop-defaults"} {
		for name, content := range route(t, tree, service, nil) {
			if strings.HasPrefix(name, "knative-promote-") {
				all = append(all, name)
			}
			tree[name] = &fstest.MapFile{Data: content, Mode: 0o644}
		}
	}
	if len(all) != 4 {
		t.Errorf("the files are %q, want two of each Service", all)
	}
}

// TestLinesAbove has what others put above the tool's files, as a licence or a
// formatter's ---: the record is read below it, and it stays.
func TestLinesAbove(t *testing.T) {
	t.Parallel()
	const own, defaults, record = "knative-promote-shop.yaml", "knative-promote-shop.defaults.yaml", "record: 1\n\nlast: line\n"
	for _, above := range []string{"", "# Copyright Acme\n# SPDX-License-Identifier: Apache-2.0\n\n", "---\n", "# Copyright Acme\n---\n", "# Copyright Acme\r\n---\r\n", "\ufeff", "\ufeff# Copyright Acme\n"} {
		tree := liveTree(liveManifest)
		for name, content := range route(t, tree, "shop", []byte(record)) {
			tree[name] = &fstest.MapFile{Data: content, Mode: 0o644}
		}
		for _, name := range []string{own, defaults} {
			tree[name].Data = append([]byte(above), tree[name].Data...)
		}
		now, err := knative.Read(t.Context(), tree, ".", "shop")
		if err != nil {
			t.Fatalf("%q: %v", above, err)
		}
		if got := string(now.Record()); got != record {
			t.Errorf("below %q the record is %q", above, got)
		}
		noted, err := now.WithRecord(t.Context(), []byte("record: 2\n"))
		if err != nil {
			t.Fatal(err)
		}
		files, err := noted.Files()
		if got := string(files[own]); err != nil || !strings.HasPrefix(got, strings.ReplaceAll(above, "\r\n", "\n")+"# Written by knative-promote") || !strings.Contains(got, "\n# record: 2\napiVersion") {
			t.Errorf("%v: below %q the record is written as %q", err, above, got)
		}
		files = route(t, tree, "shop", []byte("record: 3\n"))
		if got := string(files[own]); !strings.HasPrefix(got, above+"# Written by knative-promote") || !strings.Contains(got, "\n# record: 3\napiVersion") {
			t.Errorf("below %q the next step is written as %q", above, got)
		}
		if got, changed := files[defaults]; changed {
			t.Errorf("below %q the same defaults are written as %q", above, got)
		}
	}
}

// route are the files that a step changes with all traffic to the template.
func route(t *testing.T, tree fstest.MapFS, service string, record []byte) map[string][]byte {
	t.Helper()
	now, err := knative.Read(t.Context(), tree, ".", service)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := now.NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	after, err := now.Route(t.Context(), revision, knative.Split{Stable: revision}.Targets("candidate", true), record, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := after.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}
