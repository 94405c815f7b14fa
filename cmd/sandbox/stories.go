package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/fake/githubtest"
)

// A story is one run of the command and what must come of it.
type story struct {
	title string
	text  string
	first []input // of a step before; none: there is none
	with  []input // as in a workflow's step
	pull  int     // pull request that started it; 0: a person did

	exit    int
	status  string
	commits []string // share of the live traffic by version after each commit
	asNow   bool     // the overlay must render in the end what it renders now
}

// An input is one line below `with:`.
type input struct{ name, value string }

func stories(w *world) []story {
	return []story{{
		title: "a good promotion",
		text: "Pull request 41 was merged and its image is ready. The new revision starts at 0 %, and gets\n" +
			"10, 50 and 100 % of the traffic when Argo CD and Knative show that the step is live, the\n" +
			"candidate has answered, and it has stayed good for two seconds. Each step is one commit, and a last\n" +
			"one, which changes a comment, says that all has passed.",
		with: commonInputs(w, "image", "ghcr.io/acme/product-import:v2.0.0", "steps", "10@2s,50@2s,100",
			"probe", "/healthz", "probe-connect", w.Argo.Ingress()),
		pull: 41, exit: 0, status: "promoted",
		commits: []string{"v1.0.0 100 %", "v1.0.0 90 %, v2.0.0 10 %", "v1.0.0 50 %, v2.0.0 50 %", "v2.0.0 100 %", "v2.0.0 100 %"},
	}, {
		title: "a broken image",
		text: "Pull request 42 brings an image that cannot be pulled. It is given half a minute, as such\n" +
			"troubles may pass. Its revision does not become ready, so it never gets traffic, and one commit\n" +
			"rolls everything back to what was there before.",
		with: commonInputs(w, "image", "ghcr.io/acme/product-import:v2.1.0-broken", "steps", "10,50,100",
			"probe", "/healthz", "probe-connect", w.Argo.Ingress()),
		pull: 42, exit: 8, status: "rolled-back", asNow: true,
		commits: []string{"v2.0.0 100 %", "v2.0.0 100 %", "v2.0.0 100 %"},
	}, {
		title: "an image that is healthy and fails one request in twenty",
		text: "Pull request 43 brings an image that starts, is ready and answers its probe, but fails one\n" +
			"request in twenty. The load, 20 requests a second to the candidate and as many to the old revision,\n" +
			"finds that while the candidate is still at 0 %: no user meets it, and no metrics system is needed.",
		with: commonInputs(w, "image", "ghcr.io/acme/product-import:v2.2.0-fail5", "steps", "10@10s,50@10s,100",
			"probe", "/healthz", "probe-connect", w.Argo.Ingress(), "load", "/healthz 20/s", "slo", "success>=99% requests>=200"),
		pull: 43, exit: 8, status: "rolled-back", asNow: true,
		commits: []string{"v2.0.0 100 %", "v2.0.0 100 %", "v2.0.0 100 %"},
	}, {
		title: "a rollback by hand",
		text: "v2.0.0 is ready and answers, but customers complain. Somebody starts the rollback workflow:\n" +
			"one commit, no steps, back to the promotion before.",
		with: commonInputs(w, "command", "rollback", "reason", "wrong prices since 14:10"),
		exit: 0, status: "rolled-back",
		commits: []string{"v1.0.0 100 %", "v1.0.0 100 %"},
	}, {
		title: "from staging to production, by digest",
		text: "v2.3.0 is promoted in staging. Production names no image: it takes what runs there, by the digest\n" +
			"that Knative has resolved, because the record says that the last gates have passed, and Argo CD\n" +
			"shows it live.",
		first: storyInputs(w, staging, "product-import-staging", "image", "ghcr.io/acme/product-import:v2.3.0"),
		with:  commonInputs(w, "from", staging, "steps", "50@2s,100", "probe", "/healthz", "probe-connect", w.Argo.Ingress()),
		exit:  0, status: "promoted",
		commits: []string{"v1.0.0 100 %", "v1.0.0 50 %, v2.3.0 50 %", "v2.3.0 100 %", "v2.3.0 100 %"},
	}}
}

// inputs are the ones of every workflow of production, with more in front.
func commonInputs(w *world, pairs ...string) []input {
	return storyInputs(w, overlay, application, pairs...)
}

// inputsOf are those of an environment.
func storyInputs(w *world, path, app string, pairs ...string) []input {
	var with []input
	for pair := range slices.Chunk(pairs, 2) {
		with = append(with, input{pair[0], pair[1]})
	}
	return append(with,
		input{"service", service},
		input{"repository", w.Repository},
		input{"path", path},
		input{"token", "${{ secrets.INFRA_TOKEN }}"},
		input{"application", app},
		input{"argocd-server", w.Argo.Addr()},
		input{"argocd-token", "${{ secrets.ARGOCD_TOKEN }}"},
		input{"argocd-ca", "${{ vars.ARGOCD_CA }}"},
	)
}

// tell runs a story, shows it and checks how it ended.
func tell(ctx context.Context, out io.Writer, w *world, number int, s story) error {
	w.number = number
	heading(out, fmt.Sprintf("Story %d: %s", number, s.title))
	fmt.Fprintf(out, "%s\n\n", s.text)
	if err := w.prepare(ctx, out, s); err != nil {
		return err
	}
	showInputs(out, s.with)
	before, err := w.tip(ctx)
	if err != nil {
		return err
	}
	if s.pull > 0 {
		w.hub.AddPull(githubtest.Pull{Number: s.pull, State: "closed", Merge: commitOf(s.pull)})
	}
	ended, views, err := w.play(ctx, out, s, before.commit)
	if err != nil {
		return err
	}
	showCommits(out, views)
	if err := s.check(ended, views); err != nil {
		return err
	}
	if err := checkEnd(ctx, w, s, before); err != nil {
		return err
	}
	return w.showComment(out, s)
}

// prepare runs the step before, where there is one.
func (w *world) prepare(ctx context.Context, out io.Writer, s story) error {
	if s.first == nil {
		return nil
	}
	showInputs(out, s.first)
	ended, err := w.run(ctx, out, story{with: s.first})
	if err == nil && ended.exit != 0 {
		err = fmt.Errorf("the step before ended with exit code %d", ended.exit)
	}
	fmt.Fprintln(out)
	return err
}

// play runs the command and looks at what its commits do to the traffic.
func (w *world) play(ctx context.Context, out io.Writer, s story, from string) (ending, []view, error) {
	if _, err := w.lookFrom(from); err != nil {
		return ending{}, nil, err
	}
	ended, err := w.run(ctx, out, s)
	if err != nil {
		return ended, nil, err
	}
	w.look(ctx)
	seen, err := w.lookFrom("")
	return ended, seen, err
}

// check compares what the run said, and what the data path did, with what the
// story promises.
func (s story) check(ended ending, views []view) error {
	if ended.exit != s.exit || ended.outputs["status"] != s.status {
		return fmt.Errorf("it ended with exit code %d and status %q, promised were %d and %q", ended.exit, ended.outputs["status"], s.exit, s.status)
	}
	var got []string
	for _, v := range views {
		got = append(got, v.served())
		if err := v.check(); err != nil {
			return err
		}
	}
	if diff := cmp.Diff(s.commits, got); diff != "" {
		return fmt.Errorf("the live traffic after the commits is not the promised one (-promised +live):\n%s", diff)
	}
	return nil
}

// checkEnd compares the overlay with the one before, where it must be the same.
func checkEnd(ctx context.Context, w *world, s story, before state) error {
	after, err := w.tip(ctx)
	if err != nil {
		return err
	}
	if live := w.Argo.Traffic(namespace, service); !knative.SameTraffic(live, after.traffic) {
		return fmt.Errorf("the data path shows %s in the end, but Git %s", knative.Describe(live), knative.Describe(after.traffic))
	}
	if diff := cmp.Diff(before.manifest, after.manifest); s.asNow && diff != "" {
		return fmt.Errorf("the overlay is not as it was before (-before +after):\n%s", diff)
	}
	return nil
}
