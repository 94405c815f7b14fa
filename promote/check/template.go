package check

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"knative.dev/serving/pkg/apis/autoscaling"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/internal/jsonpointer"
	"github.com/acme/knative-promote/promote/event"
)

// templateRules are about the template that revisions are made from.
func templateRules() []Rule {
	return []Rule{
		{
			ID: "template-changed", Severity: event.SeverityWarning, Find: findChanged,
			Summary: "the template has changed, but its revision's name has not",
			Link:    "https://github.com/knative/client/issues/994",
		},
		{
			ID: "template-pinned", Severity: event.SeverityInfo, Find: findPinned,
			Summary: "somebody has written a revision name into the template",
			Link:    "https://github.com/knative/client/issues/994",
		},
		{
			ID: "template-not-explicit", Severity: event.SeverityInfo, Find: findNotExplicit,
			Summary: "the template leaves out what Knative adds to it; a promotion writes it into the overlay",
			Link:    "https://github.com/knative/serving/blob/main/pkg/apis/serving/v1/revision_defaults.go",
		},
		{
			ID: "startup-probe-without-port", Severity: event.SeverityError, Find: findStartupProbe,
			Summary: "a startup probe has no port, so that no revision ever becomes ready",
			Link:    "https://knative.dev/docs/serving/services/configure-probing/",
		},
		{
			ID: "initial-scale-zero", Severity: event.SeverityWarning, Find: findInitialScale,
			Summary: "revisions become ready before any container has started",
			Link:    "https://knative.dev/docs/serving/autoscaling/scale-bounds/",
		},
		{
			ID: "previous-keeps-running", Severity: event.SeverityInfo, Find: findMinScale,
			Summary: "the old revision that is kept has a min-scale, so its pods keep running",
			Link:    "https://knative.dev/docs/serving/autoscaling/scale-bounds/",
		},
	}
}

func findChanged(f Facts) []event.Finding {
	if f.Overlay == nil {
		return nil
	}
	fields, err := f.Overlay.Changed(f.Service)
	if err != nil || len(fields) == 0 {
		return nil
	}
	lines := make([]string, len(fields))
	for i, field := range fields {
		lines[i] = readable(keys(field)) + " differs from the live Service's, whose revision has that name"
	}
	at := f.inService(keys(fields[0])...)
	return []event.Finding{{
		Problem: fmt.Sprintf("the template of Service %s has changed under the revision name %s", f.Overlay.Service(), f.Overlay.Revision()),
		Effect: "Knative refuses the change, so Argo CD's syncs fail until a promotion gives the template a new name. If that promotion fails, all " +
			"traffic goes to the old revision again, and the changed template gets a revision of its own that no traffic goes to.",
		Evidence: strings.Join(lines, "\n"),
		Fix: "Promote the change by itself, without a new image, before anything else:\n" +
			fmt.Sprintf("knative-promote promote --image unchanged --service %s --path %s   # and the other inputs as usual", f.Overlay.Service(), f.Overlay.Overlay),
		File: at.File, Line: at.Line,
	}}
}

// findPinned does not mind the name that the tool itself has written.
func findPinned(f Facts) []event.Finding {
	if f.Overlay == nil || f.Overlay.PinnedByHand() == "" {
		return nil
	}
	steps := []any{"spec", "template", "metadata", "name"}
	name, at := f.Overlay.PinnedByHand(), f.handWritten(steps...)
	finding := event.Finding{
		Severity: event.SeverityWarning,
		Problem:  fmt.Sprintf("the revision name %s is written into the template of Service %s by hand", name, f.Overlay.Service()),
		Effect: "Knative refuses every change of the template that does not change this name too, for example of the image or in the base. " +
			"Promotions work: they put their own name over it.",
		Evidence: "spec.template.metadata.name is " + name + " without knative-promote's patches",
		Fix: "Take the line out. The next sync then makes one more revision from the same template, under a generated name.\n" +
			f.patch(change{Op: "remove", Path: jsonpointer.Join(steps...)}),
		File: at.File, Line: at.Line,
	}
	if f.Overlay.Owned() {
		finding.Severity = event.SeverityInfo
		finding.Effect = "None: knative-promote's own name stands over it. It comes back into force with a rollback to what was there before the first promotion."
	}
	return []event.Finding{finding}
}

// handWritten is inService without the files that the tool has written.
func (f Facts) handWritten(steps ...any) place {
	for _, doc := range f.documents() {
		if strings.HasPrefix(path.Base(doc.file), "knative-promote-") || text(doc.root, "apiVersion") != "serving.knative.dev/v1" || text(doc.root, "kind") != "Service" {
			continue
		}
		if node, found := descend(doc.root, steps); found == len(steps) {
			return place{doc.file, node.Line}
		}
	}
	return f.inKustomization()
}

func findNotExplicit(f Facts) []event.Finding {
	if f.Overlay == nil {
		return nil
	}
	patch, err := f.Overlay.MissingDefaults(f.Service)
	if err != nil || patch == nil {
		return nil
	}
	var operations []change
	if err := yaml.Unmarshal(patch, &operations); err != nil {
		return nil
	}
	lines := make([]string, len(operations))
	for i, operation := range operations {
		lines[i] = readable(keys(operation.Path)) + " is not written"
	}
	at := f.inService("spec", "template", "spec", "containers")
	return []event.Finding{{
		Problem: fmt.Sprintf("the template of Service %s leaves out what Knative adds to it", f.Overlay.Service()),
		Effect: "Knative takes the missing fields for a change of the template when only the traffic is shifted, and refuses that. " +
			"A promotion therefore writes them into the overlay with its first commit.",
		Evidence: strings.Join(lines, "\n"),
		Fix:      "Nothing is to be done. To have them in the overlay already:\n" + f.patchEntry(patch),
		File:     at.File, Line: at.Line,
	}}
}

// findStartupProbe knows that Knative fills in the port of readiness and
// liveness probes, and not of startup probes: Kubernetes then refuses the
// Deployment, and the revision waits for it without an end.
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/revision/resources/deploy.go#L286-L297
func findStartupProbe(f Facts) []event.Finding {
	service := rendered(f.Next)
	if service == nil {
		return nil
	}
	var found []event.Finding
	for i, c := range service.Spec.Template.Spec.Containers {
		kind := portless(c.StartupProbe)
		if kind == "" {
			continue
		}
		steps := []any{"spec", "template", "spec", "containers", i, "startupProbe", kind}
		at := f.inService(steps...)
		found = append(found, event.Finding{
			Problem: fmt.Sprintf("the startup probe of Service %s has no port", f.Next.Service()),
			Effect: "Kubernetes refuses the Deployment of every new revision, and Knative says only that it is being deployed: " +
				"a promotion waits until its wait-timeout and rolls it back.",
			Evidence: readable(steps) + " has no port; Knative fills one in for readiness and liveness probes only",
			Fix:      "Name the port.\n" + f.patch(change{Op: "add", Path: jsonpointer.Join(append(steps, "port")...), Value: port(c)}),
			File:     at.File, Line: at.Line,
		})
	}
	return found
}

// portless is the kind of a probe that has no port.
func portless(probe *corev1.Probe) string {
	none := intstr.IntOrString{}
	switch {
	case probe == nil:
	case probe.HTTPGet != nil && probe.HTTPGet.Port == none:
		return "httpGet"
	case probe.TCPSocket != nil && probe.TCPSocket.Port == none:
		return "tcpSocket"
	case probe.GRPC != nil && probe.GRPC.Port == 0:
		return "grpc"
	}
	return ""
}

// port is where Knative sends a container's requests.
func port(c corev1.Container) int32 {
	if len(c.Ports) > 0 {
		return c.Ports[0].ContainerPort
	}
	return 8080
}

func findInitialScale(f Facts) []event.Finding {
	service := rendered(f.Next)
	if service == nil || f.Request.Probed {
		return nil
	}
	key, value, _ := autoscaling.InitialScaleAnnotation.Get(service.Spec.Template.Annotations)
	if scale, err := strconv.Atoi(value); err != nil || scale != 0 {
		return nil
	}
	annotations := []any{"spec", "template", "metadata", "annotations"}
	steps := append(annotations, key)
	at, gone := f.inService(steps...), steps
	if len(service.Spec.Template.Annotations) == 1 {
		gone = annotations // an empty map would be out of sync for ever
	}
	return []event.Finding{{
		Problem: fmt.Sprintf("Service %s has %s: %q", f.Next.Service(), key, value),
		Effect: "A new revision is Ready before any of its containers has started. A broken image passes for live and gets all the traffic, " +
			"unless the input probe lets requests start it before.",
		Evidence: readable(steps) + " is " + strconv.Quote(value),
		Fix: "Set the input probe, or take the annotation out, so that one pod must become ready.\n" +
			f.patch(change{Op: "remove", Path: jsonpointer.Join(gone...)}),
		File: at.File, Line: at.Line,
	}}
}

func findMinScale(f Facts) []event.Finding {
	service := rendered(f.Next)
	if service == nil || !f.Request.KeepPrevious {
		return nil
	}
	key, value, _ := autoscaling.MinScaleAnnotation.Get(service.Spec.Template.Annotations)
	scale, err := strconv.Atoi(value)
	if err != nil || scale == 0 {
		return nil
	}
	at := f.inService("spec", "template", "metadata", "annotations", key)
	return []event.Finding{{
		Problem: fmt.Sprintf("Service %s has min-scale %d, and its old revision is kept", f.Next.Service(), scale),
		Effect: fmt.Sprintf("After every promotion %s of the old revision keep running under the tag `previous`, until the next one. "+
			"A rollback then needs no cold start. A cluster that is built anew from Git never had that revision, and routes nothing until a promotion leaves it out.", count(scale, "pod")),
		Evidence: fmt.Sprintf("%s: %q in the template; the input keep-previous is true", key, value),
		Fix:      "Where that is too much, leave the input keep-previous away. Knative keeps twenty revisions without traffic by its own defaults, and a rollback makes one that is gone again from Git.",
		File:     at.File, Line: at.Line,
	}}
}
