package exit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
)

// TestEndsHaveExitCodes holds the ends of runs to the table of exit codes.
func TestEndsHaveExitCodes(t *testing.T) {
	t.Parallel()
	for _, end := range event.Ends() {
		known := slices.ContainsFunc(Table(), func(e Row) bool { return e.Code == end.Code })
		if !known || end.Icon == "" || end.Words == "" {
			t.Errorf("%+v: expected one of the exit codes, an icon and words", end)
		}
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	failed := &ask.GateError{Step: "10 %", Gate: "live", Err: argo.ErrAuth}
	for _, test := range []struct {
		err     error
		status  event.Status
		want    int
		changed bool
	}{
		{nil, event.Promoted, 0, false},
		{nil, event.Unchanged, 0, false},
		{nil, event.Held, 0, false},
		{nil, event.RolledBack, 0, false},
		{nil, "", 0, false},
		{nil, event.Superseded, 6, false},
		{nil, event.Cancelled, 11, false},
		{nil, event.Failed, 1, false},
		{errors.New("anything"), event.Failed, 1, false},
		{&inputs.BadInput{}, event.Failed, 3, false},
		{remote.ErrNotFound, event.Failed, 3, false},
		{&argo.SourceError{}, event.Failed, 3, false},
		{&ask.GateError{Err: &argo.SourceError{}}, event.Failed, 9, false},
		{argo.ErrNotFound, event.Failed, 3, false},
		{remote.ErrAuth, event.Failed, 4, false},
		{argo.ErrAuth, event.Failed, 4, false},
		{gitops.ErrContention, event.Failed, 5, false},
		{errors.New("newer"), event.Superseded, 6, false},
		{plan.ErrSuperseded, event.Failed, 6, false},
		{argo.ErrSuperseded, event.Failed, 6, false},
		{gate.ErrTimeout, event.Failed, 7, false},
		{remote.ErrUnreachable, event.Failed, 7, false},
		{argo.ErrUnreachable, event.Failed, 7, false},
		{&ask.GateError{Err: argo.ErrUnreachable}, event.Failed, 9, false},
		{argo.ErrAddress, event.Failed, 3, false},
		{context.DeadlineExceeded, event.Failed, 7, false},
		{failed, event.RolledBack, 8, false},
		{failed, event.Held, 9, false},
		{&ask.GateError{Err: errors.New("bad")}, event.Failed, 9, false},
		{&promote.RestoreError{Cause: failed, Err: gitops.ErrContention}, event.Failed, 10, false},
		{&promote.RestoreError{Cause: failed, Err: context.Canceled}, event.Cancelled, 10, false},
		{context.Canceled, event.Cancelled, 11, false},
		{context.Canceled, event.Failed, 11, false},
		{remote.ErrRefused, event.Failed, 12, false},
		{&check.StopError{}, event.Failed, 13, false},
		{&guard.FreezeError{Err: errors.New("no YAML")}, event.Failed, 13, false},
		{&guard.FreezeError{Err: &setting.InputError{Err: errors.New("no file")}}, event.Failed, 3, false},
		{&guard.PipelineError{Err: errors.New("no YAML")}, event.Failed, 13, false},
		{&guard.PipelineError{}, event.Held, 9, false},
		{&guard.PipelineError{}, event.NotYet, 15, false},
		{&guard.FreezeError{}, event.Held, 9, false},
		{&guard.FreezeError{}, event.Frozen, 15, false},
		{nil, event.Frozen, 15, false},
		{&foundError{code: 13}, event.Failed, 13, false},
		{&foundError{code: 14}, event.Failed, 14, false},
		{&setting.InputError{Err: errors.New("no")}, event.Failed, 3, false},
		{remote.ErrNotFound, event.Failed, 1, true},
		{remote.ErrAuth, event.Failed, 4, true},
	} {
		err := test.err
		if err != nil {
			err = fmt.Errorf("doing: %w", err)
		}
		if got := Code(err, event.Result{Status: test.status, Changed: test.changed}); got != test.want {
			t.Errorf("%v, %q: code %d, want %d", err, test.status, got, test.want)
		}
	}
}
