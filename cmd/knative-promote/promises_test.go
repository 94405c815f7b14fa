package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/internal/fake/promotetest"
)

// checkPromises looks at all that a script has left behind, and says which of
// the product's promises are broken. The number is that of the program's own
// commits that were checked.
func (w *world) checkPromises() (int, error) {
	var more []string
	reviewed := len(w.hub.Infra.Pulls()) > 0
	if reviewed { // what was merged is in the branch by its merge
		more = []string{"--first-parent"}
	}
	commits, err := promotetest.Commits(w.bare, "main", more...)
	if err != nil {
		return 0, err
	}
	ctx, stop := context.WithTimeout(context.Background(), longest) // in a test's process one renders at a time
	defer stop()
	history := promotetest.History{Service: w.service, Overlay: w.path, Commits: commits, Foreign: w.foreign, Ready: w.readyAt, Down: w.downAt, Shared: w.staging || w.beside != "", Reviewed: reviewed}
	own, broken := history.Check(ctx)
	if w.beside != "" {
		history.Service, history.Ready, history.Down = w.beside, nil, nil // nobody looks what is ready of it
		others, wrong := history.Check(ctx)
		own, broken = own+others, errors.Join(broken, wrong)
		history.Service = w.service
	}
	if w.staging {
		if history.Commits, err = promotetest.Commits(w.bare, w.stagingBranch(), more...); err != nil {
			return own, err
		}
		history.Overlay, history.Ready = stagingPath, nil // nobody looks what is ready there
		others, wrong := history.Check(ctx)
		own, broken = own+others, errors.Join(broken, wrong)
	}
	return own, errors.Join(broken, w.forces(), w.hidesSecrets(), w.strays.found())
}

// forces tells whether anybody tried to push what is not a descendant.
func (w *world) forces() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.forced == 0 {
		return nil
	}
	return fmt.Errorf("%d pushes that are not fast-forward", w.forced)
}
