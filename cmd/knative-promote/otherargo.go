package main

import (
	"context"
	"fmt"

	"github.com/acme/knative-promote/argo"
)

// otherArgo is an Argo CD beside the target's: its errors say which.
type otherArgo struct {
	client *argo.Client
	server string
}

// Applications are those that deploy a folder of the infra repository.
func (o otherArgo) Applications(ctx context.Context, source argo.Source) ([]argo.App, error) {
	apps, err := o.client.Applications(ctx, source)
	return apps, o.named(err)
}

// Check judges whether what the intent says is live there.
func (o otherArgo) Check(ctx context.Context, intent argo.Intent) (argo.Verdict, argo.Observed, error) {
	verdict, seen, err := o.client.Check(ctx, intent)
	return verdict, seen, o.named(err)
}

func (o otherArgo) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the Argo CD at %s: %w", o.server, err)
}
