package review_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/promote/review"
)

// A note that gates have passed is merged before the next promotion begins, but a step of
// its own promotion takes its place.
func TestPublishWaitsForNotes(t *testing.T) {
	t.Parallel()
	for promotion, want := range map[string]string{
		"0": "pull request #1 (https://forge/1) is not merged: it notes that the gates of the promotion before have passed, " +
			"and without that nothing rolls back to it: merge it, or close it, before the next promotion begins",
		"1": "<nil>",
	} {
		w := newWorld(t)
		w.forge.pulls = []*pull{{PullRequest: review.PullRequest{
			Number: 1, URL: "https://forge/1", Branch: "promote-web-prod." + promotion + "-10-passed", State: review.Open,
		}}}
		step := w.proposal("1-50")
		step.Begins = true
		_, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), step)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("note of promotion %s: %s, want %s", promotion, got, want)
		}
		if closed := w.forge.pulls[0].State == review.Closed; closed != (promotion == "1") {
			t.Errorf("note of promotion %s: closed %t", promotion, closed)
		}
	}
}

// Somebody asks for a rollback between the look at the open pull requests and the pull
// request of a step.
func TestPublishClosesItselfForARollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.opened = func() {
		w.forge.opened = nil
		w.forge.pulls = append(w.forge.pulls, &pull{PullRequest: review.PullRequest{
			Number: 2, URL: "https://forge/2", Branch: "promote-web-prod.2-rollback", State: review.Open,
		}})
	}
	_, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-50"))
	const want = "pull request #2 (https://forge/2) is not merged: it rolls back, and nothing is promoted before it is merged or closed"
	if _, not := errors.AsType[*review.NotMergedError](err); !not || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if p := w.forge.pulls[0]; p.State != review.Closed || p.comment != want+"." {
		t.Errorf("its own pull request is %s, %q", p.State, p.comment)
	}
}

// Two begin at the same time: the one that was opened later stays.
func TestPublishTwoAtOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		own, other string
		stays      bool
	}{
		"promotions":                 {"1-10", "promote-web-prod.2-10", true},
		"rollbacks":                  {"1-rollback", "promote-web-prod.2-rollback", true},
		"a rollback and a promotion": {"1-rollback", "promote-web-prod.2-10", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.forge.opened = func() {
				w.forge.opened = nil
				w.forge.pulls = append(w.forge.pulls, &pull{PullRequest: review.PullRequest{
					Number: 2, URL: "https://forge/2", Branch: test.other, State: review.Open,
				}})
			}
			p := w.proposal(test.own)
			p.Begins, p.Stays = true, strings.HasSuffix(test.own, "rollback")
			if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), p); err != nil {
				t.Fatal(err)
			}
			if stays := w.forge.pulls[1].State == review.Open; stays != test.stays {
				t.Errorf("the later one stays open: %t, want %t (%q)", stays, test.stays, w.forge.pulls[1].comment)
			}
		})
	}
}

// Somebody else's run has proposed the same on the same branch, and that is merged
// before this one has its pull request: the forge knows the branch no more.
func TestPublishMergedByAnotherRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.refused = func() error {
		w.commit("app/image", "v2")
		return errors.New("422 Validation Failed: head is invalid")
	}
	tip, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-rollback"))
	if !errors.Is(err, gitops.ErrUnchanged) || tip.Hash != w.tip("main") {
		t.Errorf("commit %s, error %v; want the tip and %v", tip.Hash, err, gitops.ErrUnchanged)
	}
}

// Somebody pushes a file to the branch of the pull request, and merges it, between two looks.
// A step has not been merged as it was made; what rolls back stays, and is told.
func TestMergedWithMore(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"squash", "merge"} {
		for _, stays := range []bool{false, true} {
			w := newWorld(t)
			w.forge.method = method
			w.forge.looked = func(looks int) {
				if looks == 2 {
					w.push("promote-web-prod.1-10", "other/image", "evil")
					w.forge.merge(1)
				}
			}
			p := w.proposal("1-10")
			var told []string
			p.Stays, p.Seen = stays, func(_ review.PullRequest, what string) { told = append(told, what) }
			_, err := w.reviews(review.Wait).Publish(t.Context(), image("v2"), p)
			want := "was merged with what somebody has pushed to its branch, commit " + short(w.forge.pulls[0].Head) + ` by "Infra Team": other/image`
			_, not := errors.AsType[*review.NotMergedError](err)
			if not == stays || not && !strings.HasSuffix(err.Error(), want) || stays && !slices.Contains(told, want) {
				t.Errorf("%s, stays %t: error %v, told %q", method, stays, err, told)
			}
		}
	}
}

// TestMergedWithMoreOfTheSameFile has somebody push another line of a file that the change is
// of too, also where the branch has moved meanwhile.
func TestMergedWithMoreOfTheSameFile(t *testing.T) {
	t.Parallel()
	for _, moves := range []bool{false, true} {
		for _, evil := range []bool{false, true} {
			w := newWorld(t)
			w.commit("app/list", list("first"))
			w.forge.looked = func(looks int) {
				if looks != 2 {
					return
				}
				if moves {
					w.commit("app/list", list("another"))
				}
				if evil {
					lines := strings.Split(w.git("show", "promote-web-prod.1-10:app/list"), "\n")
					lines[10] = "evil"
					w.push("promote-web-prod.1-10", "app/list", strings.Join(lines, "\n"))
				}
				w.forge.merge(1)
			}
			_, err := w.reviews(review.Wait).Publish(t.Context(), named("v2"), w.proposal("1-10"))
			want := "was merged with what somebody has pushed to its branch, commit " + short(w.forge.pulls[0].Head) + ` by "Infra Team": app/list`
			if evil != (err != nil) || err != nil && !strings.HasSuffix(err.Error(), want) {
				t.Errorf("the branch moves %t, somebody pushes %t: error %v", moves, evil, err)
			}
		}
	}
}

// TestMergedWithMoreInAFreeze has a freeze begin when somebody merges what somebody else has
// pushed: that the change may not be made any more does not keep it from being told.
func TestMergedWithMoreInAFreeze(t *testing.T) {
	t.Parallel()
	for _, evil := range []bool{false, true} {
		w := newWorld(t)
		w.commit("app/list", list("first"))
		change, frozen := named("v2"), false
		edit := change.Edit
		change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
			files, err := edit(tip)
			if shown := w.git("show", tip.Commit.Hash+":app/list") == strings.TrimSpace(string(files["app/list"])); frozen && !shown {
				return nil, errors.New("frozen")
			}
			return files, err
		}
		w.forge.looked = func(looks int) {
			if looks != 2 {
				return
			}
			if evil {
				w.push("promote-web-prod.1-10", "app/list", "evil"+w.git("show", "promote-web-prod.1-10:app/list"))
			}
			w.forge.merge(1)
			frozen = true
		}
		_, err := w.reviews(review.Wait).Publish(t.Context(), change, w.proposal("1-10"))
		if told := err != nil && strings.HasSuffix(err.Error(), `by "Infra Team": app/list`); told != evil || !evil && err != nil {
			t.Errorf("somebody pushes %t: error %v", evil, err)
		}
	}
}

// TestNothingForeignIsMerged has somebody push to the branch of a pull request that the run merges
// when its rules are met: before a look, and between a look and the request to merge.
func TestNothingForeignIsMerged(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for look := 1; look <= 5; look++ {
			for _, file := range []string{"other/image", "app/list"} {
				w := newWorld(t)
				w.commit("app/list", list("first"))
				push := func(looks int) {
					if looks == look {
						w.push("promote-web-prod.1-10", file, "evil\n"+w.git("show", "promote-web-prod.1-10:app/list"))
					}
				}
				w.forge.late = 4
				if w.forge.looked = push; after {
					w.forge.looked, w.forge.seen = nil, push
				}
				before := w.tip("main")
				_, err := w.reviews(review.Auto).Publish(t.Context(), named("v2"), w.proposal("1-10"))
				if _, not := errors.AsType[*review.NotMergedError](err); !not || w.tip("main") != before {
					t.Errorf("%s, look %d, after it %t: error %v; main has changed: %t", file, look, after, err, w.tip("main") != before)
				}
			}
		}
	}
}

// TestRollbackIsProposedAnew has somebody push to the branch of what rolls back: it is proposed once
// more, on a branch that nobody foresees, and comes without what was pushed.
func TestRollbackIsProposedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late = 4
	w.forge.looked = func(looks int) {
		if looks == 2 {
			w.push("promote-web-prod.1-restore", "other/image", "evil")
		}
	}
	p := w.proposal("1-restore")
	p.Stays = true
	_, err := w.reviews(review.Auto).Publish(t.Context(), image("v0"), p)
	if got := w.git("ls-tree", "-r", "--name-only", "main"); err != nil || strings.Contains(got, "other") || len(w.forge.pulls) != 2 {
		t.Errorf("error %v, %d pull requests; main has %s", err, len(w.forge.pulls), got)
	}
}

// TestMergedWithAnotherMode has somebody make the file that the change is of one that may be
// executed, and merge that.
func TestMergedWithAnotherMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.looked = func(looks int) {
		if looks == 2 {
			if err := gittest.Commit(w.dir, proposal, "More", fstest.MapFS{"app/image": {Data: []byte("v2"), Mode: 0o755}}); err != nil {
				t.Error(err)
			}
			w.forge.merge(1)
		}
	}
	_, err := w.reviews(review.Wait).Publish(t.Context(), image("v2"), w.proposal("1-10"))
	if err == nil || !strings.HasSuffix(err.Error(), ": app/image") {
		t.Errorf("error %v", err)
	}
}

// TestMoreThanAreRead has more pull requests open than are read. One that is read holds as ever, what rolls back is proposed and
// merged all the same, and who pushes is told.
func TestMoreThanAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.many = fmt.Errorf("listing: %w", review.ErrMany)
	var told []string
	p := w.proposal("1-rollback")
	p.Stays, p.Seen = true, func(_ review.PullRequest, what string) { told = append(told, what) }
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), p); err != nil || !slices.Contains(told, w.forge.many.Error()) {
		t.Errorf("what rolls back: %v, told %q", err, told)
	}
	pushed := review.Proposal{Target: "web-prod", Promotion: "2", Step: "10"}
	if err := w.reviews(review.Auto).HeldBy(t.Context(), pushed); !errors.Is(err, review.ErrMany) {
		t.Errorf("what is pushed: %v", err)
	}
	w.forge.pulls = append(w.forge.pulls, &pull{PullRequest: review.PullRequest{Number: 9, URL: "https://forge/9", Branch: "promote-web-prod.2-rollback", State: review.Open}})
	if err := w.reviews(review.Auto).HeldBy(t.Context(), pushed); err == nil || errors.Is(err, review.ErrMany) {
		t.Errorf("what is pushed beside a rollback that is read: %v", err)
	}
}
