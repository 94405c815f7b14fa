package review_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/review"
)

func TestPublish(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash", "rebase"} {
		for who, merge := range map[string]review.Merge{"by the forge": review.Auto, "by a person": review.Wait} {
			t.Run(method+" "+who, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.forge.method, w.forge.late = method, 2
				w.forge.looked = func(looks int) {
					if looks == 2 {
						w.commit("README.md", "somebody else's")
					}
					if looks == 3 && merge == review.Wait {
						w.forge.merge(1)
					}
				}
				commit, err := w.reviews(merge).Publish(t.Context(), image("v2"), w.proposal("1-10"))
				if err != nil {
					t.Fatal(err)
				}
				if got := w.git("branch", "--list", "promote-*"); got != "" {
					t.Errorf("the branch %s is there, want it deleted", got)
				}
				if got := w.git("show", commit.Hash+":app/image"); got != "v2" {
					t.Errorf("the commit has %q, want v2", got)
				}
				if got := w.tip("main"); got != commit.Hash {
					t.Errorf("the commit is %s, want the tip %s", commit.Hash, got)
				}
				if got := w.git("log", "-1", "--format=%P", commit.Hash); method == "merge" && len(strings.Fields(got)) != 2 {
					t.Errorf("the commit has the parents %s, want two", got)
				}
			})
		}
	}
}

// Somebody brings the pull request's branch up to date. A merge there may be of an older commit,
// and undo what came after that, so the change is proposed anew.
func TestPublishUpdated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		update func(*world)
		pulls  int
	}{
		"rebased": {func(w *world) { w.rebase(1) }, 1},
		"merged":  {func(w *world) { w.update(1) }, 2},
	} {
		w := newWorld(t)
		w.forge.late = 3
		w.forge.looked = func(looks int) {
			if looks == 2 {
				test.update(w)
			}
		}
		commit, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10"))
		if err != nil || commit.Hash != w.tip("main") || len(w.forge.pulls) != test.pulls {
			t.Errorf("%s: published %s, %v, by %d pull requests", name, commit.Hash, err, len(w.forge.pulls))
		}
	}
}

// Somebody takes it out of the merge queue. The next head is another matter.
func TestQueuedOnceForEachHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late, w.forge.queue = 5, true
	w.forge.looked = func(looks int) {
		switch looks {
		case 2:
			w.forge.pulls[0].queued = false
		case 5:
			w.update(1)
		}
		if want := 1; looks > 1 && looks < 6 && w.forge.asked != want {
			t.Errorf("before look %d it was asked %d times to merge, want %d", looks, w.forge.asked, want)
		}
	}
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err != nil || w.forge.asked != 2 {
		t.Errorf("published: %v, asked %d times to merge", err, w.forge.asked)
	}
}

// A run that is killed after it has opened a pull request is started again.
func TestPublishAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.reviews(review.None).Publish(t.Context(), image("v2"), w.proposal("1-10"))
	if want := "a pull request is open, and merge is none: #1 (https://forge/1): run again when it is merged"; !errors.Is(err, review.ErrNotWaited) || err.Error() != want {
		t.Fatalf("error %v, want %s", err, want)
	}
	if _, err = w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err != nil {
		t.Fatal(err)
	}
	tip, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10"))
	if !errors.Is(err, gitops.ErrUnchanged) || tip.Hash != w.tip("main") {
		t.Errorf("published again: %s, %v; want ErrUnchanged with the tip", tip.Hash, err)
	}
	if len(w.forge.pulls) != 1 {
		t.Errorf("%d pull requests were opened, want 1", len(w.forge.pulls))
	}
}

func TestPublishOnAMovedBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late = 3
	w.forge.looked = func(looks int) {
		if looks == 1 {
			w.commit("app/image", "v1.1") // which the pull request's commit does not go with
		}
	}
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err != nil {
		t.Fatal(err)
	}
	var ends []string
	for _, p := range w.forge.pulls {
		ends = append(ends, fmt.Sprint(regexp.MustCompile("-[0-9]{12}$").ReplaceAllString(p.Branch, "-another"), " ", p.State, " ", p.comment))
	}
	want := []string{
		"promote-web-prod.1-10 closed Superseded by #2.",
		"promote-web-prod.1-10-another merged ",
	}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Errorf("pull requests (-want +got):\n%s", diff)
	}
}

func TestPublishClosesEarlierSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, branch := range []string{"promote-web-prod.1-10", "promote-web-prod-eu.1-10", "promote-web-production.1-10"} {
		w.forge.pulls = append(w.forge.pulls, &pull{PullRequest: review.PullRequest{Number: len(w.forge.pulls) + 1, Branch: branch, State: review.Open}})
	}
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-50")); err != nil {
		t.Fatal(err)
	}
	var closed []string
	for _, p := range w.forge.pulls {
		if p.State == review.Closed {
			closed = append(closed, p.Branch)
		}
	}
	if diff := cmp.Diff([]string{"promote-web-prod.1-10"}, closed); diff != "" {
		t.Errorf("closed (-want +got):\n%s", diff)
	}
}

func TestNotMerged(t *testing.T) {
	t.Parallel()
	frozen := errors.New("frozen until Monday")
	for _, test := range []struct {
		name   string
		change func(w *world) gitops.Change
		looked func(w *world, looks int)
		merge  review.Merge
		want   string
		ends   string // of the pull request
	}{
		{"closed by a person", nil, func(w *world, looks int) { w.forge.pulls[0].State = review.Closed }, review.Wait,
			"pull request #1 (https://forge/1) is not merged: somebody has closed it", "closed"},
		{"for another branch", nil, func(w *world, looks int) { w.forge.pulls[0].Base = "release" }, review.Auto,
			"pull request #1 (https://forge/1) is not merged: somebody has changed its base to release; expected main", "open"},
		{"changed by a person", nil, func(w *world, looks int) {
			if looks == 1 {
				w.push("promote-web-prod.1-10", "app/image", "mine")
			}
		}, review.Wait,
			"pull request #1 (https://forge/1) is not merged: somebody has pushed to its branch promote-web-prod.1-10, which is not what was proposed any more: commit HEAD by \"Infra Team\"", "open"},
		{"a file more by a person", nil, func(w *world, looks int) {
			if looks == 2 {
				w.push("promote-web-prod.1-10", "app/more", "mine")
			}
		}, review.Wait, "pull request #1 (https://forge/1) is not merged: somebody has pushed to its branch promote-web-prod.1-10, which is not what was proposed any more: commit HEAD by \"Infra Team\"", "open"},
		{"waits for a review", nil, func(w *world, looks int) { w.forge.blocked = "1 approval is required"; w.endSoon(looks) }, review.Auto,
			"pull request #1 (https://forge/1) is not merged: its time is over: not merged by the forge: 1 approval is required: context canceled", "open"},
		{"in the merge queue", nil, func(w *world, looks int) { w.forge.late, w.forge.queue = 1000, true; w.endSoon(looks) }, review.Auto,
			"pull request #1 (https://forge/1) is not merged: its time is over: in the merge queue: context canceled", "open"},
		{"frozen meanwhile", func(w *world) gitops.Change {
			change := image("v2")
			edit := change.Edit
			change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
				if len(w.forge.pulls) > 0 && w.forge.looks > 2 {
					return nil, frozen
				}
				return edit(tip)
			}
			return change
		}, func(w *world, looks int) { w.forge.late = 1000 }, review.Auto, "frozen until Monday", "open"},
		{"reverted by a person", nil, func(w *world, looks int) {
			if looks == 2 {
				w.forge.merge(1)
				w.commit("app/image", "v1")
			}
		}, review.Wait, "pull request #1 (https://forge/1) is not merged: the forge says that it was, as MERGE, but branch main does not show it, at TIP", "merged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.forge.looked = func(looks int) { test.looked(w, looks) }
			change := image("v2")
			if test.change != nil {
				change = test.change(w)
			}
			_, err := w.reviews(test.merge).Publish(w.ctx, change, w.proposal("1-10"))
			want := strings.NewReplacer("HEAD", short(w.tip("promote-web-prod.1-10")), "MERGE", short(w.forge.pulls[0].Merge), "TIP", short(w.tip("main"))).Replace(test.want)
			if err == nil || err.Error() != want {
				t.Errorf("error %v\nwant  %s", err, want)
			}
			if p := w.forge.pulls[0]; string(p.State) != test.ends || p.queued {
				t.Errorf("the pull request is %s, queued: %t; want %s and nothing queued", p.State, p.queued, test.ends)
			}
			if got := w.git("show", "main:app/image"); got != "v1" {
				t.Errorf("main has %q, want v1", got)
			}
		})
	}
}

// What restores is to be merged also when the run has no time any more.
func TestStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late, w.forge.queue = 1000, true
	w.forge.looked = func(looks int) { w.endSoon(looks) }
	p := w.proposal("1-restore")
	p.Stays = true
	if _, err := w.reviews(review.Auto).Publish(w.ctx, image("v0"), p); err == nil {
		t.Error("no error, want one")
	}
	if !w.forge.pulls[0].queued {
		t.Error("it was taken out of the queue, want it there")
	}
}

func TestMergedInTheLastMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late, w.forge.queue = 1000, true
	w.forge.looked = func(looks int) { w.endSoon(looks) }
	w.forge.dequeued = func() { w.forge.merge(1) }
	commit, err := w.reviews(review.Auto).Publish(w.ctx, image("v2"), w.proposal("1-10"))
	if err != nil || commit.Hash != w.tip("main") {
		t.Errorf("published %s, %v; want the tip", commit.Hash, err)
	}
}

// image is a change of the one file that the tests change.
func image(tag string) gitops.Change {
	edit := func(gitops.Snapshot) (map[string][]byte, error) {
		return map[string][]byte{"app/image": []byte(tag)}, nil
	}
	return gitops.Change{
		Subject:  "web prod: " + tag,
		Trailers: []gitops.Trailer{{Key: "Promotion", Value: "1"}},
		Repeats:  func(_, base, _ gitops.Snapshot) (map[string][]byte, error) { return edit(base) },
		Edit:     edit,
	}
}

func short(hash string) string { return hash[:min(len(hash), 10)] }

func (w *world) reviews(merge review.Merge) review.Reviews {
	return review.Reviews{
		Repo: w.repo, Forge: w.forge.functions(), Branch: "main", Merge: merge, Timeout: time.Hour, Poll: time.Millisecond,
		Body:  func(message string) string { return "The report.\n\n" + message },
		Quote: func(text string) string { return text },
	}
}

func (w *world) proposal(step string) review.Proposal {
	promotion, step, _ := strings.Cut(step, "-")
	return review.Proposal{Target: "web-prod", Promotion: promotion, Step: step, Seen: func(p review.PullRequest, what string) {
		w.t.Logf("#%d: %s", p.Number, what)
	}}
}

var infra = fstest.MapFS{"README.md": {Data: []byte("infra")}, "app/image": {Data: []byte("v1")}}
