package task

import (
	"context"
	"fmt"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/source"
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

// sourceClusters are the environments that images come from: in an Argo CD of their
// own, by their overlays, or in the target's.
type sourceClusters struct {
	target *argo.Client
	others map[string]otherArgo
}

// of is where an overlay is looked for.
func (s sourceClusters) of(overlay string) source.Cluster {
	if other, is := s.others[overlay]; is {
		return other
	}
	return s.target
}

// Applications are those that deploy a folder of the infra repository.
func (s sourceClusters) Applications(ctx context.Context, source argo.Source) ([]argo.App, error) {
	return s.of(source.Path).Applications(ctx, source)
}

// Check judges whether what the intent says is live in its environment.
func (s sourceClusters) Check(ctx context.Context, intent argo.Intent) (argo.Verdict, argo.Observed, error) {
	return s.of(intent.Source.Path).Check(ctx, intent)
}
