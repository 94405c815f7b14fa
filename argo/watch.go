package argo

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
)

// events are what the stream of an Application's events tells.
type events struct {
	wake chan struct{} // there was an event since it was last received from
	// version of the Application in the last event; nil while the stream brings nothing.
	version atomic.Pointer[string]
}

// tell is an event, with the version of the Application in it, or the stream's end.
func (n *events) tell(version *string) {
	n.version.Store(version)
	select {
	case n.wake <- struct{}{}:
	default: // one is waiting already
	}
}

// open tells whether an event would arrive.
func (n *events) open() bool { return n.version.Load() != nil }

// distrust is for a change that no event told of: a proxy of the stream may have lost it.
// The next event ends it.
func (n *events) distrust() { n.version.Store(nil) }

// since tells whether the last event is about a later version than the one that was read,
// or the stream has ended. A refresh of one's own does not count. Argo CD compares versions as
// numbers, too (https://github.com/argoproj/argo-cd/blob/v2.14.21/server/application/application.go#L1145).
func (n *events) since(read string) bool {
	version := n.version.Load()
	if version == nil {
		return true
	}
	now, err := strconv.ParseUint(*version, 10, 64)
	before, errRead := strconv.ParseUint(read, 10, 64)
	return err != nil || errRead != nil || now > before
}

// watch tells when something about the Application changed. It opens the
// stream again when it ends, as proxies end it after a quiet minute. Nothing follows from
// its errors: a Watch without permission is silent anyway
// (https://github.com/argoproj/argo-cd/issues/9527), and the polling tells.
func (c *Client) watch(ctx context.Context, app App) *events {
	n := &events{wake: make(chan struct{}, 1)}
	go func() {
		for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
			if c.follow(ctx, app, n) {
				pause = time.Second
			}
			if sleep.For(ctx, jitter(pause)) != nil {
				return
			}
		}
	}()
	return n
}

// follow reads one stream to its end and reports whether it brought anything. Argo CD
// begins with the Application as it is, also when nothing changes.
func (c *Client) follow(ctx context.Context, app App, n *events) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.apps.Watch(ctx, app.query())
	if err != nil {
		return false
	}
	for some := false; ; some = true {
		event, err := stream.Recv()
		if err != nil {
			if some {
				n.tell(nil)
			}
			return some
		}
		n.tell(&event.Application.ResourceVersion)
	}
}
