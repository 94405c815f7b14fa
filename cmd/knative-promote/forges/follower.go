package forges

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote/event"
)

// How long the end of a run waits for what shows it on the Forge, and how long
// one write comes after another, as GitHub asks for. A cancelled run has ten
// seconds in all.
const (
	FollowTime       = 15 * time.Second
	followTimeCancel = time.Second
	followPause      = time.Second
)

// A Follower shows a run on the Forge, beside the run. It skips states that it
// is too slow for, and what goes wrong is a warning, said once.
type Follower struct {
	What    string // that it writes, for the warning
	Console *console.Console
	Begin   func() (write func(event.Result) error, err error) // with nothing to write: nil

	results chan event.Result // newest state, at most one; nil: nothing is written yet
	closing chan struct{}     // the last state is offered
	done    chan struct{}     // it is written
}

// A Writer writes what the forge shows of a run.
type Writer struct {
	Context  context.Context // of the requests, as what is told of a run has none
	Settings inputs.Settings
	Workflow console.Workflow
	Console  *console.Console
}

// Offer puts the newest state in the place of one that was not written yet.
// The first one starts the writing.
func (f *Follower) Offer(result event.Result) {
	if f.results == nil {
		f.results, f.closing, f.done = make(chan event.Result, 1), make(chan struct{}), make(chan struct{})
		go f.follow()
	}
	select {
	case <-f.results:
	default:
	}
	f.results <- result
}

// End waits until the last state is written.
func (f *Follower) End(ctx context.Context) {
	if f.results == nil {
		return
	}
	close(f.results)
	close(f.closing)
	wait := FollowTime
	if ctx.Err() != nil {
		wait = followTimeCancel
	}
	select {
	case <-f.done:
	case <-time.After(wait):
		f.warn(errors.New("the GitHub API took too long"))
	}
}

// follow writes every state that is offered.
func (f *Follower) follow() {
	defer close(f.done)
	write, err := f.Begin()
	warned := false
	for result := range f.results {
		if write != nil {
			err = write(result)
		}
		if err != nil && !warned {
			warned = true
			f.warn(err)
		}
		select {
		case <-time.After(followPause):
		case <-f.closing:
		}
	}
}

func (f *Follower) warn(err error) {
	f.Console.Warning(console.Note{Title: fmt.Sprintf("%s not written", f.What), Text: err.Error()})
}
