package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	gate := &promote.GateError{Step: "10 %", Gate: "live", Err: argo.ErrAuth}
	for _, test := range []struct {
		err    error
		status promote.Status
		want   int
	}{
		{nil, promote.Promoted, 0},
		{nil, promote.Unchanged, 0},
		{nil, promote.Held, 0},
		{nil, promote.RolledBack, 0},
		{nil, "", 0},
		{nil, promote.Superseded, 6},
		{nil, promote.Cancelled, 11},
		{nil, promote.Failed, 1},
		{errors.New("anything"), promote.Failed, 1},
		{&badInput{}, promote.Failed, 3},
		{gitops.ErrNotFound, promote.Failed, 3},
		{&argo.SourceError{}, promote.Failed, 3},
		{&promote.GateError{Err: &argo.SourceError{}}, promote.Failed, 9},
		{argo.ErrNotFound, promote.Failed, 3},
		{gitops.ErrAuth, promote.Failed, 4},
		{argo.ErrAuth, promote.Failed, 4},
		{gitops.ErrContention, promote.Failed, 5},
		{errors.New("newer"), promote.Superseded, 6},
		{promote.ErrSuperseded, promote.Failed, 6},
		{argo.ErrSuperseded, promote.Failed, 6},
		{promote.ErrTimeout, promote.Failed, 7},
		{context.DeadlineExceeded, promote.Failed, 7},
		{gate, promote.RolledBack, 8},
		{gate, promote.Held, 9},
		{&promote.GateError{Err: errors.New("bad")}, promote.Failed, 9},
		{&promote.RestoreError{Cause: gate, Err: gitops.ErrContention}, promote.Failed, 10},
		{&promote.RestoreError{Cause: gate, Err: context.Canceled}, promote.Cancelled, 10},
		{context.Canceled, promote.Cancelled, 11},
		{context.Canceled, promote.Failed, 11},
		{gitops.ErrRefused, promote.Failed, 12},
		{&promote.PreflightStop{}, promote.Failed, 13},
		{&foundError{code: 13}, promote.Failed, 13},
		{&foundError{code: 14}, promote.Failed, 14},
	} {
		err := test.err
		if err != nil {
			err = fmt.Errorf("doing: %w", err)
		}
		if got := exitCode(err, test.status); got != test.want {
			t.Errorf("%v, %q: code %d, want %d", err, test.status, got, test.want)
		}
	}
}
