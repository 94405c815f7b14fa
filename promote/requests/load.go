package requests

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
)

// Load is a request that is sent at a fixed rate. The zero value sends none.
type Load struct {
	Path string  // path and query, such as /healthz
	Rate float64 // requests a second
}

// Run calls ask at the load's rate until ctx ends, and waits for all of them. A
// slow answer does not hold up the next request: otherwise a revision that
// stands still would be asked once only.
func (l Load) Run(ctx context.Context, ask func(context.Context)) {
	pace := rate.NewLimiter(rate.Limit(l.Rate), 1)
	var asking sync.WaitGroup
	for pace.Wait(ctx) == nil {
		asking.Go(func() { ask(ctx) })
	}
	asking.Wait()
}
