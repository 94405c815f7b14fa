package promote

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
)

// recovers tells what is wrong with what users are answered after a history, and
// with what they are answered after the commands that lead out of it: a rollback, or
// what the program says instead.
func (m *model) recovers(ctx context.Context, last event.Status) error {
	m.peace = true
	m.tell("at the end: %s", m.cluster.text())
	if err := m.answered(last); err != nil {
		return err
	}
	if n := m.tip(); isOut(m.trees[n]) {
		for isOut(m.trees[n]) {
			n--
		}
		m.append(gitops.Commit{Subject: "Put the Service in again"}, m.trees[n])
	}
	if m.trees[m.tip()][guard.DefaultWindows] != nil {
		m.setStop(false)
	}
	c := m.config
	c.RunURL, c.RunAgain, c.OnFailure = "https://example.com/runs/2", false, RollBack
	c.Steps = []plan.Step{{Percent: 100}}
	c.Images = []kustomize.Image{{Name: "web", NewTag: "v9"}}
	result, err := wayOut(ctx, c, m.systems(), m.tell)
	m.sync(ctx)
	switch why := m.cluster.unrouted(); {
	case err != nil:
		return fmt.Errorf("no command leads out: %w", err)
	case why != "" || m.cluster.wanted != m.cluster.synced:
		return fmt.Errorf("after %s, which ended %s: %s", result.Command, result.Status, m.cluster.text())
	}
	return nil
}

// wayOut rolls back, or does what the program says instead, and at most three things
// more: a rollback to the revision that it names, else a promotion of the images.
func wayOut(ctx context.Context, c Config, on Systems, tell func(format string, args ...any)) (event.Result, error) {
	results, err := Rollback(ctx, c, on)
	for range 3 {
		tell("after %s: %s: %v", results[0].Command, results[0].Status, err)
		if err == nil {
			break
		}
		next := c
		switch advised := advice.FindStringSubmatch(inFull(err)); {
		case advised == nil:
			results, err = Run(ctx, next, on)
		case advised[0] == "argocd app sync":
			if err := on.Cluster.(syncer).syncByHand(ctx); err != nil {
				return results[0], err
			}
			results, err = Run(ctx, next, on)
		default:
			next.To = advised[1] + advised[2]
			results, err = Rollback(ctx, next, on)
		}
	}
	return results[0], err
}

// A syncer is an Argo CD in which somebody syncs what Git says.
type syncer interface{ syncByHand(context.Context) error }

// syncByHand syncs the tip.
func (m *model) syncByHand(ctx context.Context) error {
	m.cluster.apply(ctx, m.commits[m.tip()].Hash, m.trees[m.tip()])
	m.cluster.reconcile()
	return nil
}

// advice are the commands that an error names, of which the first one is followed.
var advice = regexp.MustCompile(`knative-promote rollback(?: --to (web-[\w-]+))?|rollback --to (web-[\w-]+)|argocd app sync`)

// inFull is an error with how its findings are mended.
func inFull(err error) string {
	text := err.Error()
	if stop, is := errors.AsType[*check.StopError](err); is {
		for _, finding := range stop.Findings {
			text += "\n" + finding.Fix
		}
	}
	return text
}

// answered is what is wrong with what users are answered when the last run has ended:
// one that says that all is well has seen it so, unless something has happened since.
func (m *model) answered(last event.Status) error {
	well := slices.Contains([]event.Status{event.Promoted, event.RolledBack, event.Unchanged}, last)
	if why := m.cluster.unrouted(); well && m.seen && why != "" {
		return fmt.Errorf("%s, yet %s", last, why)
	}
	return nil
}
