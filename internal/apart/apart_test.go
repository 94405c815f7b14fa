package apart_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/internal/apart"
)

// working is the argument of the process that works for the tests of this package.
const working = "work-apart"

// part does what it is told to.
var part = apart.Part{Name: "the part", Most: 2 * time.Second, Do: func(c *apart.Conn) error {
	var task string
	if err := c.Receive(&task); err != nil {
		return err
	}
	switch task {
	case "more":
		var all [][]byte
		for len(all) < 1<<30 {
			all = append(all, make([]byte, 1<<20))
		}
	case "on":
		for {
			time.Sleep(time.Hour)
		}
	case "panic":
		panic("it is wrong")
	case "environment":
		return c.Send(strings.Join(os.Environ(), " "))
	case "ask":
		if err := c.Send("who?"); err != nil {
			return err
		}
		var is string
		if err := c.Receive(&is); err != nil {
			return err
		}
		return c.Send("it is " + is)
	}
	return c.Send(task)
}}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == working {
		apart.Serve(os.Stdin, os.Stdout, 64<<20, os.Exit, part)
		return
	}
	os.Setenv("TOKEN", "secret")
	if status := m.Run(); status != 0 {
		os.Exit(status)
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	apart.By(self, working)
	inOwnProcess = true
	os.Exit(m.Run())
}

// inOwnProcess tells whether the part works in one.
var inOwnProcess bool

// do has the part do one task, and answers what it asks.
func do(ctx context.Context, task string) (answer string, err error) {
	err = apart.Do(ctx, part, func(c *apart.Conn) error {
		if err := c.Send(task); err != nil {
			return err
		}
		if err := c.Receive(&answer); err != nil || answer != "who?" {
			return err
		}
		if err := c.Send("me"); err != nil {
			return err
		}
		answer = ""
		return c.Receive(&answer)
	})
	return answer, err
}

// TestDo has the part work, in this process and then in its own.
func TestDo(t *testing.T) {
	for task, want := range map[string]string{"this": "this", "ask": "it is me"} {
		if answer, err := do(t.Context(), task); answer != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", task, answer, err, want)
		}
	}
	answer, err := do(t.Context(), "environment")
	if sees := strings.Contains(answer, "TOKEN=secret"); sees == inOwnProcess || err != nil {
		t.Errorf("it sees the environment %q, %v", answer, err)
	}
}

// TestEnds has tasks that take all memory and time, and what comes after them.
func TestEnds(t *testing.T) {
	if !inOwnProcess {
		t.Skip("nothing bounds it here")
	}
	for task, want := range map[string]string{
		"more":  "the part ended on this input: it takes more than 64 MiB of memory",
		"panic": "the part ended on this input: panic: it is wrong",
		"on":    "not ready in time: the part does not end within 2s",
	} {
		_, err := do(t.Context(), task)
		if err == nil || err.Error() != want || errors.Is(err, apart.ErrEnded) == errors.Is(err, apart.ErrLate) {
			t.Errorf("%s: got %v, want %s", task, err, want)
		}
		if answer, err := do(t.Context(), "this"); answer != "this" || err != nil {
			t.Errorf("after %s: got %q, %v", task, answer, err)
		}
	}
}

// TestCancelled has one who asks and goes away: while it is somebody else's turn, and during the work.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	working, done := make(chan bool), make(chan error)
	go func() {
		done <- apart.Do(ctx, part, func(c *apart.Conn) error {
			close(working)
			var never string
			return c.Receive(&never) // it was told nothing to do
		})
	}()
	<-working
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := do(gone, "this"); !errors.Is(err, apart.ErrLate) || !errors.Is(err, context.Canceled) {
		t.Errorf("while another one works: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, apart.ErrLate) || !errors.Is(err, context.Canceled) {
		t.Errorf("in the middle: %v", err)
	}
	if answer, err := do(t.Context(), "this"); answer != "this" || err != nil {
		t.Errorf("afterwards: got %q, %v", answer, err)
	}
}

// TestSurely has what ends a little after its time, and what goes on.
func TestSurely(t *testing.T) {
	t.Parallel()
	over := errors.New("it is over")
	ctx, end := context.WithCancelCause(t.Context())
	end(over)
	ends := func(ctx context.Context) (string, error) { <-ctx.Done(); return "ended", nil }
	if got, err := apart.Surely(ctx, time.Hour, ends); got != "ended" || err != nil {
		t.Errorf("what ends: %q, %v", got, err)
	}
	goesOn := func(context.Context) (string, error) { select {} }
	if got, err := apart.Surely(ctx, time.Millisecond, goesOn); got != "" || !errors.Is(err, over) || !errors.Is(err, apart.ErrLate) {
		t.Errorf("what goes on: %q, %v", got, err)
	}
	defer func() {
		if recover() != "wrong" {
			t.Error("a panic is lost")
		}
	}()
	_, _ = apart.Surely(ctx, time.Hour, func(context.Context) (string, error) { panic("wrong") })
}
