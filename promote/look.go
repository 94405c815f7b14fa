package promote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// look reads the branch's tip, the record there and what is live.
func (p *Promotion) look(ctx context.Context) (Situation, error) {
	at, err := p.lookInside(ctx)
	if err != nil {
		return at, err
	}
	if err := p.overtaken(at); err != nil {
		return at, err
	}
	if err := p.lookLive(ctx, &at); err != nil {
		return at, err
	}
	at.NoPrevious, err = p.previousGone(ctx, at.Now)
	return at, err
}

// lookInside renders the overlay at the branch's tip, as it is and with the
// images set.
func (p *Promotion) lookInside(ctx context.Context) (Situation, error) {
	var at Situation
	tip, err := p.Branch.Tip(ctx)
	if err != nil {
		return at, err
	}
	at.Tip, at.Tree = tip.Commit, tip.Tree
	if at.Now, err = p.overlay(ctx, tip); err != nil {
		return at, err
	}
	p.Service = at.Now.Service()
	p.result.Service = p.Service
	at.Record, at.Unreadable = parseRecord(at.Now.Record())
	at.Next, err = p.next(ctx, at.Now)
	return at, err
}

// overlay reads the overlay at the branch's tip.
func (p *Promotion) overlay(ctx context.Context, tip gitops.Snapshot) (*knative.State, error) {
	if _, err := fs.Stat(tip.Tree, p.Overlay); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("path: folder %q: %w in the infra repository at commit %.10s: expected the overlay's folder, relative to the root",
			p.Overlay, gitops.ErrNotFound, tip.Commit.Hash)
	}
	return knative.Read(ctx, tip.Tree, p.Overlay, p.Service)
}

// overtaken ends a workflow run that is started again after a newer one has
// promoted or rolled back, also where somebody without a workflow run has come
// after that. What came before this run's own does not count.
func (p *Promotion) overtaken(at Situation) error {
	if !p.RunAgain || p.RunURL == "" {
		return nil
	}
	for _, e := range at.Record.of(p.Overlay).entries() {
		if e.Run == p.RunURL {
			return nil
		}
		if newerRun(e.Run, p.RunURL) {
			return fmt.Errorf("%w: this run was started again, but since then the newer run %s has moved the service to %s: start a new run instead",
				ErrSuperseded, e.Run, e.To.Revision)
		}
	}
	return nil
}

// next is the overlay with the images set, or as it is when none are given.
func (p *Promotion) next(ctx context.Context, now *knative.State) (*knative.State, error) {
	if len(p.Images) == 0 {
		return now, nil
	}
	return now.SetImages(ctx, p.Images)
}

// lookLive asks Argo CD for the Service. One that is not there yet is a first
// deployment. A plan alone can do without Argo CD.
func (p *Promotion) lookLive(ctx context.Context, at *Situation) error {
	if p.Cluster == nil {
		at.LatestReady = p.Service + "-current"
		p.say("without Argo CD the live revision's name is not known; it is shown as %s", at.LatestReady)
		return nil
	}
	if p.result.Command == commandRollback {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, emergencyLook)
		defer stop()
	}
	seen, err := p.Cluster.Live(ctx, p.App, p.Source, p.Service)
	if errors.Is(err, argo.ErrNotFound) && seen.App != nil {
		p.see(seen)
		return nil
	}
	if err != nil {
		return err
	}
	p.see(seen)
	at.LatestReady, err = p.ready()
	return err
}

// ready names the latest ready revision of the Service that was seen live.
func (p *Promotion) ready() (string, error) {
	name := p.live.Status.LatestReadyRevisionName
	if name == "" {
		return "", fmt.Errorf("the Service %s is live but has no ready revision to go back to; mend it first, or delete it for a first deployment", p.Service)
	}
	return name, nil
}

// emergencyLook is how long a rollback waits for what it can do without.
const emergencyLook = 5 * time.Second

// previousGone tells whether the revision under the tag `previous` is known to
// be gone. Naming it again would hold up all of the Service's traffic.
func (p *Promotion) previousGone(ctx context.Context, now *knative.State) (bool, error) {
	traffic, err := now.Traffic()
	if err != nil {
		return false, err
	}
	return len(p.withoutGone(ctx, traffic)) < len(traffic), nil
}
