package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/requests"
)

// CandidateURL is where the new revision answers, as Knative itself says. At
// 100 % it has no URL of its own any more, the Service's is asked. The error says
// that the live Service shows none, or was not seen.
func CandidateURL(service *servingv1.Service, tag string, percent int) (string, error) {
	if service == nil {
		return "", errors.New("the live Service was not seen")
	}
	if percent == 100 && service.Status.URL != nil {
		return service.Status.URL.String(), nil
	}
	for _, t := range service.Status.Traffic {
		if t.Tag == tag && t.URL != nil {
			return t.URL.String(), nil
		}
	}
	return "", fmt.Errorf("the Service %s shows no URL for the tag %q", service.Name, tag)
}

// candidateURL is where the candidate answers at the step.
func (a Ask) candidateURL() (string, error) {
	return CandidateURL(a.Observed.Service, a.Tag, a.Step.Percent)
}

// namespace is where the Service lives; empty where it was not seen.
func (a Ask) namespace() string {
	if a.Observed.Service == nil {
		return ""
	}
	return a.Observed.Service.Namespace
}

// oldOf is the revision with the greatest share of the traffic beside the
// candidate's.
func oldOf(in argo.Intent, candidate string) (name string, share int64) {
	for _, t := range in.Traffic {
		if t.RevisionName != candidate && t.Percent != nil && *t.Percent > share {
			name, share = t.RevisionName, *t.Percent
		}
	}
	return name, share
}

// warmUpEvery keeps a pod: the autoscaler lets the last one go after a minute
// without requests.
const warmUpEvery = 10 * time.Second

// KeepWarm asks the candidate at a URL now and then until ctx ends, so that what the
// gate warm-up has made warm stays so. What it answers is not looked at.
func (s Settings) KeepWarm(ctx context.Context, url string) {
	if s.WarmUp == "" {
		return
	}
	client := s.Route.Open()
	defer client.Close()
	for sleep.For(ctx, warmUpEvery) == nil {
		client.Get(ctx, requests.Address(url, s.WarmUp), io.Discard)
	}
}
