package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/controller"
)

// follow makes a controller that reconciles each object when it changes, and again, later each time, after an error.
func follow(ctx context.Context, name string, r controller.Reconciler, informer cache.SharedIndexInformer) (*controller.Impl, error) {
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{WorkQueueName: name, Logger: quiet(ctx)})
	if _, err := informer.AddEventHandler(controller.HandleAll(impl.Enqueue)); err != nil {
		return nil, fmt.Errorf("following changes for the %s: %w", name, err)
	}
	return impl, nil
}
