package promotetest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// target is one of a Service's traffic targets as any YAML reader sees it.
type target struct {
	RevisionName   string  `json:"revisionName"`
	LatestRevision bool    `json:"latestRevision"`
	Percent        float64 `json:"percent"`
}

// manifest is what matters of an object.
type manifest struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct{ Traffic []target }
}

// traffic renders the overlay and tells whether the traffic is as it may be:
// whole percentages that sum to 100, all to named revisions that were ready. The
// program must be able to read it back too.
func (j judge) traffic(ctx context.Context, c Commit) error {
	targets, err := j.targets(ctx, c)
	if err != nil {
		return err
	}
	_, unreadable := knative.Read(ctx, c.Files, j.Overlay, j.Service)
	broken := []error{sums(targets), unreadable}
	for _, t := range targets {
		percent := int(t.Percent)
		switch {
		case t.Percent != float64(percent) || percent < 0 || percent > 100:
			broken = append(broken, fmt.Errorf("%v %% is no whole percentage", t.Percent))
		case percent > 0 && (t.RevisionName == "" || t.LatestRevision):
			broken = append(broken, fmt.Errorf("%d %% go to a revision without a name", percent))
		case percent > 0 && !j.mayServe(c, t.RevisionName):
			broken = append(broken, fmt.Errorf("%d %% go to %s, which had not been ready", percent, t.RevisionName))
		}
	}
	return errors.Join(broken...)
}

// targets are the rendered Service's.
func (j judge) targets(ctx context.Context, c Commit) ([]target, error) {
	manifests, err := kustomize.Render(ctx, c.Files, j.Overlay)
	if err != nil {
		return nil, fmt.Errorf("does not render: %w", err)
	}
	for document := range strings.SplitSeq(string(manifests), "\n---\n") {
		var object manifest
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, err
		}
		if object.Kind == "Service" && strings.HasPrefix(object.APIVersion, "serving.knative.dev/") && object.Metadata.Name == j.Service {
			return object.Spec.Traffic, nil
		}
	}
	return nil, fmt.Errorf("does not render the Service %s", j.Service)
}

// foreignTraffic tells whether somebody's merge or revert has made of the
// overlay's own file what the program never writes.
func (j judge) foreignTraffic(c Commit) error {
	file := c.Files[j.ownFile()]
	if file == nil {
		return nil
	}
	var object manifest
	if err := yaml.Unmarshal(file.Data, &object); err != nil || len(object.Spec.Traffic) == 0 {
		return nil // nothing of the program's
	}
	return sums(object.Spec.Traffic)
}

func sums(targets []target) error {
	sum := 0.0
	for _, t := range targets {
		sum += t.Percent
	}
	if sum != 100 {
		return fmt.Errorf("the traffic sums to %v", sum)
	}
	return nil
}
