package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"knative.dev/pkg/logging"
)

// endpoint is one of the addresses that the command serves on.
type endpoint struct {
	name, address string
	handler       http.Handler
	tls           *tls.Config
}

// serve answers on an endpoint until the context ends. It returns when the address is bound, and logs it.
func serve(ctx context.Context, group *errgroup.Group, e endpoint) error {
	listener, err := net.Listen("tcp", e.address)
	if err != nil {
		return fmt.Errorf("serving the %s: %w", e.name, err)
	}
	log := logging.FromContext(ctx)
	log.Infow("serving", "what", e.name, "address", listener.Addr().String())
	if e.tls != nil {
		listener = tls.NewListener(listener, e.tls)
	}
	server := &http.Server{Handler: e.handler, ReadHeaderTimeout: time.Minute, ErrorLog: zap.NewStdLog(quiet(ctx).Desugar())}
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving the %s: %w", e.name, err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	return nil
}

// quiet is the log for Knative's libraries, which tell every request and reconciliation otherwise.
func quiet(ctx context.Context) *zap.SugaredLogger {
	return logging.FromContext(ctx).Desugar().WithOptions(zap.IncreaseLevel(zap.WarnLevel)).Sugar()
}
