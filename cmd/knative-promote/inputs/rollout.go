package inputs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/plan"
)

// parseSteps accepts `10@5m,50@5m,100`, also with one step per line.
func parseSteps(text string) ([]plan.Step, error) {
	var steps []plan.Step
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		step, err := parseStep(field)
		if err != nil {
			return nil, err
		}
		if n := len(steps); n > 0 && step.Percent <= steps[n-1].Percent {
			return nil, fmt.Errorf("expected percentages that rise, but %d comes after %d", step.Percent, steps[n-1].Percent)
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		return nil, errors.New("expected at least one percentage")
	}
	return steps, nil
}

func parseStep(text string) (plan.Step, error) {
	number, after, baked := strings.Cut(text, "@")
	percent, err := strconv.ParseUint(number, 10, 8)
	if err != nil || percent > 100 {
		return plan.Step{}, fmt.Errorf("expected whole percentages from 0 to 100, but there is %q", number)
	}
	step := plan.Step{Percent: int(percent)}
	if baked {
		if step.Bake, err = parseDuration(after); err != nil {
			return plan.Step{}, fmt.Errorf("after @ %w, but there is %q", err, after)
		}
	}
	return step, nil
}

// keepsSteps tells whether steps stop at each of others that is not above their last one, and
// bake as long there.
func keepsSteps(given, said []plan.Step) bool {
	last := given[len(given)-1].Percent
	for _, step := range said {
		keeps := func(s plan.Step) bool { return s.Percent == step.Percent && s.Bake >= step.Bake }
		if step.Percent <= last && !slices.ContainsFunc(given, keeps) {
			return false
		}
	}
	return last <= said[len(said)-1].Percent
}

// parseOverride accepts what can be overridden.
func parseOverride(text string) ([]guard.Override, error) {
	var all []guard.Override
	for name := range pipeline.Words(text) {
		over := guard.Override(name)
		if !slices.Contains([]guard.Override{guard.OverrideFreeze, guard.OverridePipeline, guard.OverrideRolledBack}, over) {
			return nil, errors.New("expected freeze, guards or rolled-back, several with commas")
		}
		all = append(all, over)
	}
	return all, nil
}

// imageUnchanged is the value of image for a promotion of the configuration alone. An
// empty one cannot say that: it may be an output of another step, misspelt.
const imageUnchanged = "unchanged"

// parseImages accepts one image per line, or that there is none to set.
func parseImages(text string) ([]kustomize.Image, error) {
	if text == imageUnchanged {
		return nil, nil
	}
	var images []kustomize.Image
	for _, line := range nonBlankLines(text) {
		image, err := kustomize.ParseImage(line)
		if err != nil {
			return nil, err
		}
		for _, earlier := range images {
			if earlier.Name == image.Name {
				return nil, fmt.Errorf("expected each image once, but %s is there twice", image.Name)
			}
		}
		images = append(images, image)
	}
	return images, nil
}
