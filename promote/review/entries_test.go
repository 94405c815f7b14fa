package review_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/promote/review"
)

// entry is one of several in a file whose lines are the same but for the name.
func entry(name, tag string) string {
	return "- name: " + name + "\n  # The pipeline moves this tag.\n  tag: " + tag + "\n  # Nothing else does.\n"
}

var errAhead = errors.New("another run is ahead")

// tagged is a change of the entry of web in a file, and of a record. Where the record alone is
// there it is refused, as a promotion's step is.
func tagged(tag string) gitops.Change {
	change := image(tag)
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		list, err := fs.ReadFile(tip.Tree, "app/list")
		if err != nil {
			return nil, err
		}
		lines := strings.SplitAfter(string(list), "\n")
		at := 2 + slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "- name: web") })
		there := lines[at] == "  tag: "+tag+"\n"
		switch _, err := fs.Stat(tip.Tree, "app/record"); {
		case err == nil && there:
			return nil, gitops.ErrUnchanged
		case err == nil:
			return nil, errAhead
		}
		lines[at] = "  tag: " + tag + "\n"
		return map[string][]byte{"app/list": []byte(strings.Join(lines, "")), "app/record": []byte(tag)}, nil
	}
	change.Repeats = func(_, base, _ gitops.Snapshot) (map[string][]byte, error) { return change.Edit(base) }
	return change
}

// swapped are the entries in the other order, each with a comment, and a tag for web.
func swapped(tag string) string { return entry("other # team b", "v1") + entry("web # team a", tag) }

// TestEntriesChangePlaces has somebody let two entries of a file change places while a pull
// request waits for its rules. Git would put the new tag into the other entry without a conflict.
func TestEntriesChangePlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("app/list", entry("web", "v1")+entry("other", "v1"))
	w.forge.late = 4
	w.forge.looked = func(looks int) {
		if looks == 3 {
			w.commit("app/list", swapped("v1"))
		}
	}
	_, err := w.reviews(review.Auto).Publish(w.ctx, tagged("v2"), w.proposal("1-10"))
	want := strings.TrimSpace(swapped("v2"))
	if got := w.git("show", "main:app/list"); err != nil || len(w.forge.pulls) != 2 || got != want {
		t.Errorf("error %v, %d pull requests, want 2; the file is\n%s\nwant\n%s", err, len(w.forge.pulls), got, want)
	}
}

// TestMergedIntoAnotherEntry has the pull request merged in the moment in which two entries change
// places, also where the forge shows that late: the merge is named, and is no other run's.
func TestMergedIntoAnotherEntry(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"squash", "merge", "rebase"} {
		for _, behind := range []int{0, 1} {
			w := newWorld(t)
			w.commit("app/list", entry("web", "v1")+entry("other", "v1"))
			w.forge.method, w.forge.behind = method, behind
			w.forge.looked = func(looks int) {
				if looks == 2 {
					w.commit("app/list", swapped("v1"))
					w.forge.merge(1)
				}
			}
			_, err := w.reviews(review.Wait).Publish(w.ctx, tagged("v2"), w.proposal("1-10"))
			want := "was merged as " + short(w.tip("main")) + ", which makes something else of files than was proposed, for example because others changed them at that moment: app/list"
			if not, is := errors.AsType[*review.NotMergedError](err); !is || not.Reason != want {
				t.Errorf("%s, the forge is behind for %d looks: error %v, want %s", method, behind, err, want)
			}
		}
	}
}

// TestSupersededBeforeTheMerge has another run's commit come first, and the forge merge the pull
// request all the same: that one was first, and nothing is said of the merge.
func TestSupersededBeforeTheMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("app/list", entry("web", "v1")+strings.Repeat("\n", 9)+entry("other", "v1"))
	change := tagged("v2")
	edit := change.Edit
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		if readme, err := fs.ReadFile(tip.Tree, "README.md"); err != nil || string(readme) == "another's" {
			return nil, errors.Join(err, errAhead)
		}
		return edit(tip)
	}
	w.forge.looked = func(looks int) {
		if looks == 2 {
			w.commit("app/list", entry("web", "v1")+strings.Repeat("\n", 9)+entry("other", "v3"))
			w.commit("README.md", "another's")
			w.forge.merge(1)
		}
	}
	p := w.proposal("1-10")
	p.Over = func(err error) bool { return errors.Is(err, errAhead) }
	if _, err := w.reviews(review.Wait).Publish(w.ctx, change, p); !errors.Is(err, errAhead) {
		t.Errorf("error %v, want %v", err, errAhead)
	}
}

// TestMergedWithLinesInAnotherOrder has somebody push to the branch of a pull request the same
// lines in another order: the tags of two entries that are not the run's change places. Main has
// moved, so that the head's file is on another commit than it was written on.
func TestMergedWithLinesInAnotherOrder(t *testing.T) {
	t.Parallel()
	for _, evil := range []bool{false, true} {
		w := newWorld(t)
		w.commit("app/list", entry("web", "v1")+entry("one", "v5")+entry("two", "v6"))
		w.forge.looked = func(looks int) {
			if looks != 2 {
				return
			}
			w.commit("README.md", "more")
			if evil {
				w.push(proposal, "app/list", entry("web", "v2")+entry("one", "v6")+entry("two", "v5"))
			}
			w.forge.merge(1)
		}
		change := tagged("v2")
		frozen := errors.New("frozen")
		edit := change.Edit
		change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
			files, err := edit(tip)
			if readme, _ := fs.ReadFile(tip.Tree, "README.md"); err == nil && string(readme) == "more" {
				return nil, frozen // what was written tells alone
			}
			return files, err
		}
		_, err := w.reviews(review.Wait).Publish(w.ctx, change, w.proposal("1-10"))
		if told := err != nil && strings.HasSuffix(err.Error(), `by "Infra Team": app/list`); told != evil || !evil && err != nil {
			t.Errorf("somebody pushes %t: error %v", evil, err)
		}
	}
}

// TestMergedWithAFileTakenBack has somebody push the file as the run wrote it, over what others
// have made of it since: their change is taken back.
func TestMergedWithAFileTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("app/list", entry("web", "v1")+entry("other", "v1"))
	w.forge.looked = func(looks int) {
		if looks != 2 {
			return
		}
		w.commit("app/list", entry("web", "v1")+entry("other", "v7"))
		w.git("update-ref", "refs/heads/"+proposal, w.tip("main"))
		back := fstest.MapFS{"app/list": {Data: []byte(entry("web", "v2") + entry("other", "v1"))}, "app/record": {Data: []byte("v2")}}
		if err := gittest.Commit(w.dir, proposal, "Back", back); err != nil {
			t.Error(err)
		}
		w.forge.merge(1)
	}
	_, err := w.reviews(review.Wait).Publish(w.ctx, tagged("v2"), w.proposal("1-10"))
	if err == nil || !strings.HasSuffix(err.Error(), `by "Infra Team": app/list`) {
		t.Errorf("error %v", err)
	}
}
