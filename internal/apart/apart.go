// Package apart has a part of the program work in a process of its own, of the same program: on input that could take memory
// or time without an end. That process has no environment, so no token and no other programs such as git, and sends nothing
// over HTTP.
package apart

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"
)

// A Part is what works apart. Do takes a task from its Conn, and sends what comes of it; it may be ended at any moment. Its
// error says that the Conn is broken.
type Part struct {
	Name string        // as errors have it
	Most time.Duration // that it may work on one task
	Do   func(*Conn) error
}

// A Conn is how both sides of a Part talk, in values that package gob takes. They agree on which comes when.
type Conn struct {
	to   *gob.Encoder
	from *gob.Decoder
}

func connect(from io.Reader, to io.Writer) *Conn {
	return &Conn{to: gob.NewEncoder(to), from: gob.NewDecoder(from)}
}

// Send sends a value.
func (c *Conn) Send(v any) error { return c.to.Encode(v) }

// Receive receives one into what v points to, which must be zero before.
func (c *Conn) Receive(v any) error { return c.from.Decode(v) }

// command starts the process, and idle is one that has nothing to do. Both belong to who holds the turn.
var (
	command []string
	idle    *worker
	turn    = make(chan struct{}, 1)
)

// By has all parts work in another process from now on, which a command starts and which calls [Serve]. It ends with this one.
func By(name string, args ...string) {
	turn <- struct{}{}
	command = append([]string{name}, args...)
	<-turn
}

// The errors of [Do]. Why stands behind them.
var (
	ErrEnded = errors.New("ended on this input") // the process has
	ErrLate  = errors.New("not ready in time")
)

// Do has a part work, one after the other, and talks with it until it is done. Before [By] it works in this process, with no
// bound on memory, and its end is waited for. The error is ErrEnded, or ErrLate: at the end of ctx, or of the part's time,
// which counts from its turn.
func Do(ctx context.Context, part Part, talk func(*Conn) error) error {
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return late(ctx)
	}
	defer func() { <-turn }()
	ctx, cancel := context.WithTimeoutCause(ctx, part.Most, fmt.Errorf("%s does not end within %s", part.Name, part.Most))
	defer cancel()
	if command == nil {
		return here(ctx, part, talk)
	}
	if w := idle; w != nil {
		idle = nil
		if err := w.do(ctx, part, talk); !errors.Is(err, ErrEnded) {
			return err
		} // nobody had needed it for long, or something else has ended it
	}
	w, err := start()
	if err != nil {
		return fmt.Errorf("starting a process for %s: %w", part.Name, err)
	}
	return w.do(ctx, part, talk)
}

func late(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrLate, context.Cause(ctx))
}

func ended(part Part, why any) error { return fmt.Errorf("%s %w: %v", part.Name, ErrEnded, why) }

// here has a part work in this process.
func here(ctx context.Context, part Part, talk func(*Conn) error) error {
	in, toPart := io.Pipe()
	fromPart, out := io.Pipe()
	leave := func() { toPart.Close(); fromPart.Close() }
	defer context.AfterFunc(ctx, leave)()
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := part.Do(connect(in, out))
		in.CloseWithError(err)
		out.CloseWithError(err)
	}()
	err := talk(connect(fromPart, toPart))
	leave()
	<-done
	switch {
	case ctx.Err() != nil:
		return late(ctx)
	case err != nil:
		return ended(part, err)
	}
	return nil
}
