package gate

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/setting"
)

// TestAnotherKind adds a kind to the list: it is asked under its name where its settings
// say so, and the time that it may take counts.
func TestAnotherKind(t *testing.T) {
	t.Parallel()
	pretend := Kind{Name: "pretend", Measures: true, Gate: func(_ Settings, step Step, _ Templates) Gate {
		if step.Percent == 0 {
			return Gate{}
		}
		return Gate{Patience: time.Hour, Check: func(context.Context, Ask) Outcome { return Outcome{Reason: "it is there"} }}
	}}
	kinds := append(Kinds(), []Kind{pretend})
	settings := Settings{Wait: time.Minute}
	if rows := settings.after(kinds, Step{}, Templates{}); len(slices.Concat(rows...)) != 1 {
		t.Errorf("at 0 %%: %v", rows)
	}
	rows := settings.after(kinds, Step{Percent: 10}, Templates{})
	gates := slices.Concat(rows...)
	if len(gates) != 2 || gates[1].Name != "pretend" || !gates[1].Measures || Patience(rows) != time.Hour+time.Minute {
		t.Errorf("at 10 %%: %v, patience %s", gates, Patience(rows))
	}
}

// TestKindsAreWhole looks that each kind says what the documents show, and that it sends
// by an input of its own.
func TestKindsAreWhole(t *testing.T) {
	t.Parallel()
	for _, kind := range slices.Concat(Kinds()...) {
		if kind.Name == "" || kind.Passes == "" || kind.Asked == "" || kind.Gate == nil {
			t.Errorf("%+v lacks something", kind)
		}
		if kind.Sends == "" {
			continue
		}
		rows := kind.Inputs(new(Settings))
		if !slices.ContainsFunc(rows, func(r setting.Row) bool { return r.Name == kind.Sends }) {
			t.Errorf("%s sends by %s, which is no input of it", kind.Name, kind.Sends)
		}
	}
}
