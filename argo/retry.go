package argo

import (
	"context"
	"math/rand/v2"
	"path"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/acme/knative-promote/internal/sleep"
)

const maxTries = 6

// A retry gives every call a deadline of its own and tries the reading ones again.
type retry struct {
	timeout  time.Duration // of one try; all tries end within twice this time
	accepted atomic.Bool   // the token was good before
}

func (r *retry) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	all, cancel := context.WithTimeout(ctx, 2*r.timeout)
	defer cancel()
	pause := 200 * time.Millisecond
	var said error // by an earlier try, which tells more than that a later one had no time
	for try := 1; ; try++ {
		err := r.once(all, method, req, reply, conn, next, opts...)
		late := status.Code(err) == codes.DeadlineExceeded && ctx.Err() == nil
		if late && said != nil {
			err = said
		}
		if err == nil {
			r.accepted.Store(true)
		}
		if err == nil || try == maxTries || writes(method) || !r.maySucceed(err, try) || sleep.For(all, jitter(pause)) != nil {
			return err
		}
		if !late {
			said = err
		}
		pause *= 2
	}
}

func (r *retry) once(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return next(ctx, method, req, reply, conn, opts...)
}

// writes tells the calls that change something: an answer that got lost does not say
// whether they did.
func writes(method string) bool {
	name := path.Base(method)
	return name == "Sync" || name == "TerminateOperation" || name == "RunResourceAction"
}

// maySucceed tells whether another try may succeed. Internal is what a cut answer looks like,
// Unknown what Argo CD makes of most errors of its own back ends. A token that was good
// before can be refused for a moment, by a proxy in front of Argo CD for one.
func (r *retry) maySucceed(err error, try int) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Unknown, codes.DeadlineExceeded, codes.Internal:
		return true
	case codes.Unauthenticated:
		return r.accepted.Load() && try < 3
	}
	return false
}

// jitter is between half and all of d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}
