package proposal

import (
	"errors"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
)

// servicesOf are the Services to ask about: those that an overlay has before or after, or
// none, with an empty name, for what is the overlay's own.
func servicesOf(before, after []byte) ([]string, error) {
	services, err := knative.Services(after)
	if err != nil {
		return nil, err
	}
	if len(services) == 0 {
		services = []string{""}
	}
	gone, err := knative.Services(before)
	services = append(services, gone...)
	slices.Sort(services)
	return slices.Compact(services), err
}

// gone tells whether an overlay does not have the Service.
func gone(is *knative.State) bool { return errors.Is(is.Unusable(), knative.ErrNoService) }

// unusable is why no run could edit a Service any more that runs could edit before. One
// that is taken out is nobody's to edit.
func unusable(was, is *knative.State) error {
	if was.Unusable() != nil || gone(is) {
		return nil
	}
	return is.Unusable()
}
