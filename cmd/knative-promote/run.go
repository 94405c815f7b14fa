package main

import (
	"context"
	"errors"

	"github.com/acme/knative-promote/promote"
)

// execute does what the settings ask for and says how it ended. The result is
// as complete as the run has come, also beside an error.
func execute(_ context.Context, s settings, _ workflow, _ *runner) (promote.Result, error) {
	return promote.Result{Command: s.Command, Status: promote.Failed}, errors.New("the command is not wired yet")
}
