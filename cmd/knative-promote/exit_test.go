package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	gate := &promote.GateError{Step: "10 %", Gate: "live", Err: argo.ErrAuth}
	for _, test := range []struct {
		err     error
		status  promote.Status
		want    int
		changed bool
	}{
		{nil, promote.Promoted, 0, false},
		{nil, promote.Unchanged, 0, false},
		{nil, promote.Held, 0, false},
		{nil, promote.RolledBack, 0, false},
		{nil, "", 0, false},
		{nil, promote.Superseded, 6, false},
		{nil, promote.Cancelled, 11, false},
		{nil, promote.Failed, 1, false},
		{errors.New("anything"), promote.Failed, 1, false},
		{&inputs.BadInput{}, promote.Failed, 3, false},
		{gitops.ErrNotFound, promote.Failed, 3, false},
		{&argo.SourceError{}, promote.Failed, 3, false},
		{&promote.GateError{Err: &argo.SourceError{}}, promote.Failed, 9, false},
		{argo.ErrNotFound, promote.Failed, 3, false},
		{gitops.ErrAuth, promote.Failed, 4, false},
		{argo.ErrAuth, promote.Failed, 4, false},
		{gitops.ErrContention, promote.Failed, 5, false},
		{errors.New("newer"), promote.Superseded, 6, false},
		{promote.ErrSuperseded, promote.Failed, 6, false},
		{argo.ErrSuperseded, promote.Failed, 6, false},
		{promote.ErrTimeout, promote.Failed, 7, false},
		{gitops.ErrUnreachable, promote.Failed, 7, false},
		{argo.ErrUnreachable, promote.Failed, 7, false},
		{&promote.GateError{Err: argo.ErrUnreachable}, promote.Failed, 9, false},
		{argo.ErrAddress, promote.Failed, 3, false},
		{context.DeadlineExceeded, promote.Failed, 7, false},
		{gate, promote.RolledBack, 8, false},
		{gate, promote.Held, 9, false},
		{&promote.GateError{Err: errors.New("bad")}, promote.Failed, 9, false},
		{&promote.RestoreError{Cause: gate, Err: gitops.ErrContention}, promote.Failed, 10, false},
		{&promote.RestoreError{Cause: gate, Err: context.Canceled}, promote.Cancelled, 10, false},
		{context.Canceled, promote.Cancelled, 11, false},
		{context.Canceled, promote.Failed, 11, false},
		{gitops.ErrRefused, promote.Failed, 12, false},
		{&promote.PreflightStop{}, promote.Failed, 13, false},
		{&promote.FreezeError{Err: errors.New("no YAML")}, promote.Failed, 13, false},
		{&promote.FreezeError{Err: &promote.InputError{Err: errors.New("no file")}}, promote.Failed, 3, false},
		{&promote.GuardError{Err: errors.New("no YAML")}, promote.Failed, 13, false},
		{&promote.GuardError{}, promote.Held, 9, false},
		{&promote.GuardError{}, promote.NotYet, 15, false},
		{&promote.FreezeError{}, promote.Held, 9, false},
		{&promote.FreezeError{}, promote.Frozen, 15, false},
		{nil, promote.Frozen, 15, false},
		{&foundError{code: 13}, promote.Failed, 13, false},
		{&foundError{code: 14}, promote.Failed, 14, false},
		{&promote.InputError{Err: errors.New("no")}, promote.Failed, 3, false},
		{gitops.ErrNotFound, promote.Failed, 1, true},
		{gitops.ErrAuth, promote.Failed, 4, true},
	} {
		err := test.err
		if err != nil {
			err = fmt.Errorf("doing: %w", err)
		}
		if got := exitCode(err, promote.Result{Status: test.status, Changed: test.changed}); got != test.want {
			t.Errorf("%v, %q: code %d, want %d", err, test.status, got, test.want)
		}
	}
}
