package inputs

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/requests"
)

// parseSteps accepts `10@5m,50@5m,100`, also with one step per line.
func parseSteps(text string) ([]promote.Step, error) {
	var steps []promote.Step
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

func parseStep(text string) (promote.Step, error) {
	number, after, baked := strings.Cut(text, "@")
	percent, err := strconv.ParseUint(number, 10, 8)
	if err != nil || percent > 100 {
		return promote.Step{}, fmt.Errorf("expected whole percentages from 0 to 100, but there is %q", number)
	}
	step := promote.Step{Percent: int(percent)}
	if baked {
		if step.Bake, err = parseDuration(after); err != nil {
			return promote.Step{}, fmt.Errorf("after @ %w, but there is %q", err, after)
		}
	}
	return step, nil
}

// parseProbe accepts a path with an optional expect=STATUS behind it, and
// keeps what other inputs have set.
func parseProbe(current *gate.Probe) func(string) (gate.Probe, error) {
	return func(text string) (gate.Probe, error) {
		probe := *current
		fields := strings.Fields(text)
		if !isPath(fields[0]) {
			return gate.Probe{}, errors.New("expected a path that starts with one slash, and expect=STATUS where another status than any 2xx is good")
		}
		probe.Path, probe.Expect = fields[0], 0
		var err error
		for _, field := range fields[1:] {
			if probe.Expect, err = parseExpect(field); err != nil {
				return gate.Probe{}, err
			}
		}
		return probe, nil
	}
}

func isPath(text string) bool {
	u, err := url.ParseRequestURI(text)
	return err == nil && u.Host == "" && strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && !strings.Contains(text, "#")
}

func parseWarmUp(text string) (string, error) {
	if !isPath(text) {
		return "", errors.New("expected a path that starts with one slash")
	}
	return text, nil
}

// mostLoad is the highest rate, in requests a second, that a load may have: it
// is there to see faults, not to find the limits of a Service.
const mostLoad = 100

// parseLoad accepts a path and a rate, such as `/healthz 5/s`.
func parseLoad(text string) (requests.Load, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 || !isPath(fields[0]) {
		return requests.Load{}, errors.New("expected a path that starts with one slash, and a rate")
	}
	rate, err := parseRate(fields[1])
	return requests.Load{Path: fields[0], Rate: rate}, err
}

func parseRate(text string) (float64, error) {
	number, per, _ := strings.Cut(text, "/")
	count, err := strconv.Atoi(number)
	rate := float64(count)
	if per == "m" {
		rate /= 60
	}
	if err != nil || per != "s" && per != "m" || rate <= 0 || rate > mostLoad {
		return 0, fmt.Errorf("expected a rate of whole requests, at most %d a second, as NUMBER/s or NUMBER/m, but there is %q", mostLoad, text)
	}
	return rate, nil
}

func parseExpect(text string) (int, error) {
	number, found := strings.CutPrefix(text, "expect=")
	status, err := strconv.Atoi(number)
	if !found || err != nil || status < 100 || status > 599 {
		return 0, fmt.Errorf("expected expect= with a status from 100 to 599 after the path, but there is %q", text)
	}
	return status, nil
}

// parseOverride accepts what can be overridden.
func parseOverride(text string) ([]promote.Override, error) {
	var all []promote.Override
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		over := promote.Override(name)
		if !slices.Contains([]promote.Override{promote.OverrideFreeze, promote.OverrideGuards, promote.OverrideRecord}, over) {
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
