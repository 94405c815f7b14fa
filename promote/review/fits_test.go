package review_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/review"
)

// named is a change that writes the last line of a file, with what another file says, as a
// revision's name has its template's hash.
func named(tag string) gitops.Change {
	change := image(tag)
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		readme, err := fs.ReadFile(tip.Tree, "README.md")
		if err != nil {
			return nil, err
		}
		list, err := fs.ReadFile(tip.Tree, "app/list")
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(list), "\n")
		lines[len(lines)-1] = fmt.Sprintf("%s of %s", tag, readme)
		return map[string][]byte{"app/list": []byte(strings.Join(lines, "\n"))}, nil
	}
	change.Repeats = func(_, base, _ gitops.Snapshot) (map[string][]byte, error) { return change.Edit(base) }
	return change
}

// list is a file of which only the first line is somebody else's.
func list(first string) string { return first + strings.Repeat("\nline", 20) + "\nv1 of infra" }

// TestBranchMoves has the branch move while a pull request waits that Git can merge all the
// same. It is merged where that certainly makes of the branch what the change would, and else the
// change is proposed anew, also where the forge was faster.
func TestBranchMoves(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		moves func(*world)
		pulls int
		want  string // the file's end
	}{
		{"elsewhere", func(w *world) { w.commit("other", "x") }, 1, "v2 of infra"},
		{"in the same file", func(w *world) { w.commit("app/list", list("somebody's")) }, 2, "v2 of infra"},
		{"under the change", func(w *world) { w.commit("README.md", "more") }, 2, "v2 of more"},
		{"and is merged into it", func(w *world) { w.update(1) }, 2, "v2 of somebody else's"},
		{"and it is rebased", func(w *world) { w.rebase(1) }, 2, "v2 of somebody else's"},
		{"and the forge is faster", func(w *world) { w.commit("README.md", "more"); w.forge.merge(1) }, 2, "v2 of more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.commit("app/list", list("ours"))
			w.forge.late = 4
			w.forge.looked = func(looks int) {
				if looks == 3 {
					test.moves(w)
				}
			}
			p := w.proposal("1-restore")
			p.Stays = true
			commit, err := w.reviews(review.Auto).Publish(w.ctx, named("v2"), p)
			if err != nil || commit.Hash != w.tip("main") {
				t.Errorf("published %s, %v; want the tip", commit.Hash, err)
			}
			if got := w.git("show", "main:app/list"); len(w.forge.pulls) != test.pulls || !strings.HasSuffix(got, "\n"+test.want) {
				t.Errorf("%d pull requests, want %d; the file ends with %q, want %q", len(w.forge.pulls), test.pulls, got[strings.LastIndex(got, "\n")+1:], test.want)
			}
		})
	}
}

// TestOver has the change refused while its pull request, which stays, waits in the queue: the
// forge must not merge it any more, and nothing waits for it.
func TestOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late = 1000
	superseded := errors.New("superseded by a person")
	change := image("v0")
	edit := change.Edit
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		if w.forge.looks > 3 {
			return nil, superseded
		}
		return edit(tip)
	}
	p := w.proposal("1-restore")
	p.Stays, p.Over = true, func(err error) bool { return errors.Is(err, superseded) }
	if _, err := w.reviews(review.Auto).Publish(w.ctx, change, p); !errors.Is(err, superseded) {
		t.Errorf("error %v, want %v", err, superseded)
	}
	if pull := w.forge.pulls[0]; pull.queued || pull.State != review.Closed || pull.comment != "Nothing is left to be rolled back: superseded by a person" {
		t.Errorf("it is %s (queued: %t), %q; want it closed", pull.State, pull.queued, pull.comment)
	}
}
