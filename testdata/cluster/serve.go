package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// serveGit serves the bare repositories of a folder over smart HTTP, by git
// itself, until it is told to end.
func serveGit(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("git: expected an address and a folder, got %q", args)
	}
	server := &http.Server{Addr: args[0], Handler: &gittest.Server{Root: args[1], Token: plane.GitPassword}}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

// serveRedis is the cache that Argo CD wants, in memory.
func serveRedis(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("redis: expected an address, got %q", args)
	}
	cache := miniredis.NewMiniRedis()
	if err := cache.StartAddr(args[0]); err != nil {
		return err
	}
	defer cache.Close()
	second := time.NewTicker(time.Second) // it has no clock of its own
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-second.C:
			cache.FastForward(time.Second)
		}
	}
}
