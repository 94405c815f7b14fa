package promote

import (
	"errors"
	"fmt"
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/windows"
)

// TestOutcome has every way in which a run may end. Where several things have
// come together, a person's change comes before a cancel, and a cancel before
// a failure.
func TestOutcome(t *testing.T) {
	t.Parallel()
	var (
		gate      = &ask.GateError{Step: "10 %", Gate: "live", Err: errors.New("not ready")}
		refused   = errors.New("push refused")
		person    = fmt.Errorf("%w by a person", plan.ErrSuperseded)
		overtaken = &ask.GateError{Step: "restore", Gate: "live", Err: fmt.Errorf("%w: by a person", argo.ErrSuperseded)}
		freeze    = fmt.Errorf("editing: %w", &guard.FreezeError{File: "f", State: windows.State{Closed: []windows.Cause{{Line: 1, Text: "audit"}}}})
		no        = fmt.Errorf("editing: %w", &guard.FreezeError{File: "f", Err: errors.New("no YAML")})
		unseen    = &ask.GateError{Step: "restore", Gate: "live", Err: argo.ErrAuth}
	)
	for name, test := range map[string]struct {
		end       ending
		cancelled bool
		status    event.Status
		err       string
	}{
		"all gates passed":                   {ending{reached: event.Promoted}, false, event.Promoted, ""},
		"all gates passed, then a cancel":    {ending{reached: event.Promoted}, true, event.Promoted, ""},
		"stopped below 100 %":                {ending{reached: event.Held}, false, event.Held, ""},
		"could not be pushed":                {ending{cause: refused}, false, event.Failed, "push refused"},
		"cancelled while pushing":            {ending{cause: refused}, true, event.Cancelled, "push refused"},
		"a person was first":                 {ending{cause: person}, false, event.Superseded, "superseded by a person"},
		"a person was first, and a cancel":   {ending{cause: person}, true, event.Superseded, "superseded by a person"},
		"frozen before the first commit":     {ending{cause: freeze}, false, event.Frozen, "editing: frozen by f: audit (line 1), until the file changes: start the run again then"},
		"frozen between two steps":           {ending{cause: freeze, hold: true}, false, event.Held, "editing: frozen by f: audit (line 1), until the file changes: start the run again then"},
		"frozen, and a cancel":               {ending{cause: freeze}, true, event.Cancelled, "editing: frozen by f: audit (line 1), until the file changes: start the run again then"},
		"no windows before the first commit": {ending{cause: no}, false, event.Failed, "editing: f: no YAML; nothing gets more traffic until it can be read: correct it in the infra repository"},
		"no windows between two steps":       {ending{cause: no, hold: true}, false, event.Held, "editing: f: no YAML; nothing gets more traffic until it can be read: correct it in the infra repository"},
		"a gate failed, held":                {ending{cause: gate, hold: true}, false, event.Held, "10 %: gate live: not ready"},
		"a gate failed, held, and a cancel":  {ending{cause: gate, hold: true}, true, event.Cancelled, "10 %: gate live: not ready"},
		"a gate failed, nothing to restore":  {ending{cause: gate}, false, event.Failed, "10 %: gate live: not ready"},
		"restored and live":                  {ending{cause: gate, back: true}, false, event.RolledBack, "10 %: gate live: not ready"},
		"restored and live, then a cancel":   {ending{cause: gate, back: true}, true, event.RolledBack, "10 %: gate live: not ready"},
		"restored, not seen live":            {ending{cause: gate, back: true, failed: unseen}, false, event.Failed, "10 %: gate live: not ready; rolling back failed: restore: gate live: not allowed by Argo CD"},
		"cancelled while restoring":          {ending{cause: gate, back: true, failed: unseen}, true, event.Cancelled, "10 %: gate live: not ready; it is restored in Git, but not seen live"},
		"a person was first to restore":      {ending{cause: gate, back: true, failed: person}, false, event.Superseded, "superseded by a person"},
		"not restored":                       {ending{cause: gate, back: true, failed: refused}, false, event.Failed, "10 %: gate live: not ready; rolling back failed: push refused"},
		"cancelled, restored at once":        {ending{cause: gate, back: true, atOnce: true}, true, event.Cancelled, "10 %: gate live: not ready; it is restored in Git, but not seen live"},
		"cancelled, not restored":            {ending{cause: gate, back: true, atOnce: true, failed: refused}, true, event.Cancelled, "10 %: gate live: not ready; rolling back failed: push refused"},
		"cancelled, a person was first":      {ending{cause: gate, back: true, atOnce: true, failed: person}, true, event.Cancelled, "10 %: gate live: not ready; rolling back failed: superseded by a person"},
		"a rollback that is not seen live":   {ending{back: true, failed: unseen}, false, event.Failed, "rolling back failed: restore: gate live: not allowed by Argo CD"},
		"a rollback, a person was first":     {ending{back: true, failed: overtaken}, false, event.Failed, "rolling back failed: restore: gate live: superseded: by a person"},
		"a person was first, then a cancel":  {ending{cause: gate, back: true, failed: overtaken}, true, event.Superseded, "restore: gate live: superseded: by a person"},
		"a rollback cancelled while waiting": {ending{back: true, failed: unseen}, true, event.Cancelled, "the commit is made, but the run was cancelled before it was seen live: restore: gate live: not allowed by Argo CD"},
	} {
		status, err := test.end.outcome(test.cancelled)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if status != test.status || text != test.err {
			t.Errorf("%s: %s, %q, want %s, %q", name, status, text, test.status, test.err)
		}
	}
}
