package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// A run is one command at work on one target: what it is asked to do, whom it
// asks, and the journal that it writes. Nothing in it changes while it goes on
// but what the journal holds.
type run struct {
	Config
	Systems
	infra   infra
	service liveService
	journal *journal
}

// open reads the overlay at the branch's tip and begins a run of a command on
// it. With an error there is a run as well, that can be ended.
func open(ctx context.Context, command string, c Config, on Systems) (*run, Situation, error) {
	on, started := on.complete(), time.Now()
	infra := infra{Target: c.Target, branch: on.Branch, commits: on.Commits}
	at, err := infra.tip(ctx)
	if err == nil {
		c.Service = at.Now.Service()
		infra.Service = c.Service
	}
	r := &run{
		Config: c, Systems: on, infra: infra, service: liveService{c.Target, on.Cluster},
		journal: newJournal(command, c, started, on.Reporter),
	}
	if err == nil {
		at.Next, err = withImages(ctx, at.Now, c.Images)
	}
	return r, at, err
}

// look sees what is live, after the overlay at the tip. Patience is how long
// Argo CD may take; zero: as long as the run has.
func (r *run) look(ctx context.Context, at Situation, patience time.Duration) (Situation, error) {
	if err := overtaken(r.Config, at); err != nil {
		return at, err
	}
	if err := r.lookLive(ctx, &at, patience); err != nil {
		return at, err
	}
	traffic, err := at.Now.Traffic()
	if err != nil {
		return at, err
	}
	// Naming a revision again that is gone would hold up all of the Service's traffic.
	at.NoPrevious = len(r.service.withoutGone(ctx, namespaceOf(at.Live), traffic)) < len(traffic)
	return at, nil
}

// lookLive asks Argo CD for the Service. One that is not there yet is a first
// deployment. A plan alone can do without Argo CD.
func (r *run) lookLive(ctx context.Context, at *Situation, patience time.Duration) error {
	seen, err := r.service.look(ctx, patience)
	if errors.Is(err, errNoCluster) {
		at.LatestReady = r.Service + "-current"
		r.journal.say("without Argo CD the live revision's name is not known; it is shown as %s", at.LatestReady)
		return nil
	}
	if err != nil {
		return err
	}
	r.saw(at, seen)
	if at.Live != nil {
		at.LatestReady, err = latestReady(at.Live)
	}
	return err
}

// saw keeps what was seen of the Application and the live Service.
func (r *run) saw(at *Situation, seen argo.Observed) {
	if seen.App != nil {
		at.App = seen.App
	}
	if seen.Service != nil {
		at.Live = seen.Service
	}
	r.journal.saw(seen, r.CandidateTag)
}

// latestReady names the latest ready revision of a live Service.
func latestReady(live *servingv1.Service) (string, error) {
	name := live.Status.LatestReadyRevisionName
	if name == "" {
		return "", fmt.Errorf("the Service %s is live but has no ready revision to go back to; mend it first, or delete it for a first deployment", live.Name)
	}
	return name, nil
}

// overtaken ends a workflow run that is started again after a newer one has
// promoted or rolled back, also where somebody without a workflow run has come
// after that. What came before this run's own does not count.
func overtaken(c Config, at Situation) error {
	if !c.RunAgain || c.RunURL == "" {
		return nil
	}
	for _, e := range at.Record.of(c.Overlay).entries() {
		if e.Run == c.RunURL {
			return nil
		}
		if newerRun(e.Run, c.RunURL) {
			return fmt.Errorf("%w: this run was started again, but since then the newer run %s has moved the service to %s: start a new run instead",
				ErrSuperseded, e.Run, e.To.Revision)
		}
	}
	return nil
}
