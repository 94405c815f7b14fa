package check

import (
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"knative.dev/serving/pkg/apis/autoscaling"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/jsonpointer"
	"github.com/acme/knative-promote/promote/record"
)

// templateRules are about the template that revisions are made from.
func templateRules() []Rule {
	return []Rule{
		rule(ruleTemplateChanged, findChanged), rule("template-pinned", findPinned), rule("template-not-explicit", findNotExplicit), rule(ruleMisfit, findMisfits), rule("defaults-hide-template", findHidden), rule("configuration-rolled-back", findRolledBack),
		rule("image-not-synced", findNotSynced), rule("startup-probe-without-port", findStartupProbe), rule("initial-scale-zero", findInitialScale), rule("previous-keeps-running", findMinScale),
	}
}

func findChanged(f Facts) []found {
	changed, err := f.Overlay.Changed(f.Service)
	if err != nil {
		return nil
	}
	where := []any{"spec", "template"}
	switch {
	case len(changed) > 0:
		where = keys(changed[0])
	case !f.nameTaken():
		return nil
	}
	fields := []string{}
	for _, field := range changed {
		fields = append(fields, readable(keys(field)))
	}
	return []found{{at: f.inService(where...), values: values{"Revision": f.Overlay.Revision(), "Fields": fields}}}
}

// nameTaken tells whether a revision that is not the live Service's has the rendered name, and
// was made of another template.
func (f Facts) nameTaken() bool {
	name := f.Overlay.Revision()
	if !f.Revisions[name] || f.Service == nil || f.Service.Spec.Template.Name == name {
		return false
	}
	made, known, err := f.Overlay.Made(name)
	return err == nil && known && !made
}

// findNotSynced is about a tip whose traffic names no revision, and whose images are neither
// live nor what is promoted. A change that is proposed is not to be live yet.
func findNotSynced(f Facts) []found {
	wanted, set := knative.Shares(f.traffic()), knative.OwnImages(f.Overlay)
	_, latest := wanted[""]
	if f.Before != nil || len(wanted) > 0 && !latest || slices.Equal(set, knative.OwnImages(f.Next)) {
		return nil
	}
	live := record.VersionOfLive(&servingv1.Revision{Spec: f.Service.Spec.Template.Spec}).AllImages()
	set = slices.DeleteFunc(set, func(image string) bool { return slices.Contains(live, image) })
	if len(set) == 0 {
		return nil
	}
	return []found{{at: f.inKustomization("images"), values: values{"Set": set, "Live": live}}}
}

func findPinned(f Facts) []found {
	name := knative.PinnedByHand(f.Overlay)
	if name == "" || len(f.Setup.Others) > 0 { // where several deploy it, shared-without-a-name wants one
		return nil
	}
	steps := []any{"spec", "template", "metadata", "name"}
	return []found{{severity: warningIf(!f.Overlay.Owned()), at: handWritten(f, steps...), values: values{
		"Name": name, "Owned": f.Overlay.Owned(), "Patch": f.patch(change{Op: "remove", Path: jsonpointer.Join(steps...)}),
	}}}
}

// handWritten is inService without the files that the tool has written.
func handWritten(f Facts, steps ...any) place {
	for _, doc := range f.once().documents {
		if strings.HasPrefix(path.Base(doc.file), "knative-promote-") || text(doc.root, "apiVersion") != "serving.knative.dev/v1" || text(doc.root, "kind") != "Service" {
			continue
		}
		if node, found := descend(doc.root, steps); found == len(steps) {
			return place{doc.file, node.Line}
		}
	}
	return f.inKustomization()
}

func findNotExplicit(f Facts) []found {
	patch, err := f.Overlay.MissingDefaults(f.Service)
	if err != nil || patch == nil {
		return nil
	}
	var operations []change
	if err := yaml.Unmarshal(patch, &operations); err != nil {
		return nil
	}
	var fields []string
	for _, operation := range operations {
		fields = append(fields, readable(keys(operation.Path)))
	}
	return []found{{at: f.inService("spec", "template", "spec", "containers"), values: values{"Fields": fields, "Patch": f.patchEntry(patch)}}}
}

// findRolledBack is about configuration that goes along with another image.
func findRolledBack(f Facts) []found {
	has, err := record.Parse(f.Overlay.Record())
	if err != nil {
		return nil
	}
	made, err := f.Overlay.NextRevision()
	if err != nil {
		return nil
	}
	rolledBack, to := has.To.Revision, has.From.Revision
	if has.Step == record.Rollback {
		rolledBack, to = to, rolledBack
	}
	gone := record.WithdrawnConfiguration(has, f.Overlay)
	if gone == "" && has.RollsBack() && made == f.Overlay.Revision() && made != to {
		gone = rolledBack // with another image; what else came with it is left
	}
	if gone == "" {
		return nil
	}
	return []found{{at: f.inKustomization(), values: values{"Revision": gone, "Made": made, "To": to, "Whole": gone == made}}}
}

func findMisfits(f Facts) []found {
	var all []found
	for _, name := range f.Overlay.Misfits {
		file := path.Join(f.Overlay.Overlay, name)
		all = append(all, found{at: place{File: file}, values: values{"File": file}})
	}
	return all
}

func findHidden(f Facts) []found {
	hidden := knative.Hidden(f.Overlay)
	if len(hidden) == 0 {
		return nil
	}
	var fields []string
	for _, field := range hidden {
		fields = append(fields, readable(keys(field)))
	}
	return []found{{at: f.inService(keys(hidden[0])...), values: values{"Fields": fields}}}
}

func findStartupProbe(f Facts) []found {
	var all []found
	for i, c := range rendered(f.Next).Spec.Template.Spec.Containers {
		kind := portless(c.StartupProbe)
		if kind == "" {
			continue
		}
		steps := []any{"spec", "template", "spec", "containers", i, "startupProbe", kind}
		all = append(all, found{at: f.inService(steps...), values: values{
			"Field": readable(steps), "Patch": f.patch(change{Op: "add", Path: jsonpointer.Join(append(steps, "port")...), Value: port(c)}),
		}})
	}
	return all
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

func findInitialScale(f Facts) []found {
	given := rendered(f.Next).Spec.Template.Annotations
	key, value, _ := autoscaling.InitialScaleAnnotation.Get(given)
	if scale, err := strconv.Atoi(value); err != nil || scale != 0 || f.Request.Probed {
		return nil
	}
	annotations := []any{"spec", "template", "metadata", "annotations"}
	steps := append(annotations, key)
	gone := steps
	if len(given) == 1 {
		gone = annotations // an empty map would be out of sync for ever
	}
	return []found{{at: f.inService(steps...), values: values{"Key": key, "Value": value, "Patch": f.patch(change{Op: "remove", Path: jsonpointer.Join(gone...)})}}}
}

func findMinScale(f Facts) []found {
	key, value, _ := autoscaling.MinScaleAnnotation.Get(rendered(f.Next).Spec.Template.Annotations)
	scale, err := strconv.Atoi(value)
	if err != nil || scale == 0 || !f.Request.KeepPrevious {
		return nil
	}
	return []found{{at: f.inService("spec", "template", "metadata", "annotations", key), values: values{"Key": key, "Value": value, "Scale": scale}}}
}
