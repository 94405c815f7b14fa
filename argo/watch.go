package argo

import (
	"context"
	"time"

	applicationpkg "github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
)

// watch sends on the channel when something about the Application changed. It opens the
// stream again when it ends, as proxies end it after a quiet minute. Nothing follows from
// its errors: a Watch without permission is silent anyway
// (https://github.com/argoproj/argo-cd/issues/9527), and the polling tells.
func (c *Client) watch(ctx context.Context, app App) <-chan struct{} {
	wake := make(chan struct{}, 1)
	go func() {
		for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
			if c.follow(ctx, app, wake) {
				pause = time.Second
			}
			if !sleep(ctx, jitter(pause)) {
				return
			}
		}
	}()
	return wake
}

// follow reads one stream to its end and reports whether it brought anything.
func (c *Client) follow(ctx context.Context, app App, wake chan<- struct{}) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	query := &applicationpkg.ApplicationQuery{Name: &app.Name}
	if app.Namespace != "" {
		query.AppNamespace = &app.Namespace
	}
	if app.Project != "" {
		query.Project = []string{app.Project}
	}
	stream, err := c.apps.Watch(ctx, query)
	if err != nil {
		return false
	}
	for some := false; ; some = true {
		if _, err := stream.Recv(); err != nil {
			return some
		}
		select {
		case wake <- struct{}{}:
		default: // one is waiting already
		}
	}
}
