package check

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/event"
)

// An overriding is where somebody changes what the overlay renders, outside of
// it: in the Application, or in a file for Argo CD beside the kustomization.
type overriding struct {
	where     string // for people, ends with a colon
	file      string // of the infra repository; empty: the Application
	kustomize v1alpha1.ApplicationSourceKustomize
	remove    string
}

// overridings reads the files that argocd-image-updater writes
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/reposerver/repository/repository.go#L1554-L1600).
func (f Facts) overridings() []overriding {
	source, index := f.source()
	var all []overriding
	if source != nil && source.Kustomize != nil {
		at := "/spec/source/kustomize"
		if f.Setup.App.Spec.HasMultipleSources() {
			at = fmt.Sprintf("/spec/sources/%d/kustomize", index)
		}
		all = append(all, overriding{
			where: strings.ReplaceAll(at[1:], "/", ".") + " of application " + f.application(), kustomize: *source.Kustomize,
			remove: "Take it away, in Git if that is where the Application comes from, or at once:\n" + f.patchApplication(`[{"op": "remove", "path": "`+at+`"}]`),
		})
	}
	for _, name := range []string{".argocd-source.yaml", ".argocd-source-" + f.fileName() + ".yaml"} {
		file := path.Join(f.Request.Overlay, name)
		var content struct {
			Kustomize *v1alpha1.ApplicationSourceKustomize `json:"kustomize"`
		}
		if raw, err := readTree(f.Tree, file); err != nil || yaml.Unmarshal(raw, &content) != nil || content.Kustomize == nil {
			continue
		}
		all = append(all, overriding{
			where: file, file: file, kustomize: *content.Kustomize,
			remove: "Remove the file, and stop what writes it (argocd-image-updater?):\ngit rm " + file,
		})
	}
	return all
}

// fileName is the Application's name in the name of its file: outside of Argo
// CD's own namespace with the namespace before it.
func (f Facts) fileName() string {
	app := f.Setup.App
	if app == nil {
		return f.Request.App.Name
	}
	return app.InstanceName(f.argocd())
}

func readTree(tree fs.FS, file string) ([]byte, error) {
	if tree == nil || !fs.ValidPath(file) {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(tree, file)
}

func findImageOverridden(f Facts) []event.Finding {
	if f.Next == nil {
		return nil
	}
	var found []event.Finding
	for _, o := range f.overridings() {
		for _, text := range o.kustomize.Images {
			image, err := kustomize.ParseImage(string(text))
			if err != nil {
				found = append(found, o.unreadableImage(string(text)))
				continue
			}
			if !slices.ContainsFunc(f.Next.Images(), func(used string) bool { return sameName(used, image) }) {
				continue
			}
			finding := o.finding(fmt.Sprintf("The image %s of Service %s is set outside of the overlay", text, f.Request.Service), string(text))
			finding.Effect = "It wins over the image that a promotion writes into the kustomization: the new revision would run the old image, and a promotion fails at its " +
				"first step. Its rollback fails too, because the same revision's name then stands for two templates."
			found = append(found, finding)
		}
	}
	return found
}

// unreadableImage is about an entry that is no image as it stands.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/kustomize/kustomize.go#L182-L197
func (o overriding) unreadableImage(text string) event.Finding {
	finding := o.finding(fmt.Sprintf("The image %s is set outside of the overlay, and is none as it stands", text), text)
	finding.Effect = "Argo CD fills in variables of its own, such as ${ARGOCD_APP_REVISION}, and nothing for any other. Where that makes an image of the Service, it wins over the " +
		"image that a promotion writes into the kustomization; where kustomize takes it for none, Argo CD cannot render the overlay at all."
	return finding
}

// sameName tells whether an entry of images: matches an image that a container
// runs, which may have been renamed by another entry.
func sameName(used string, entry kustomize.Image) bool {
	name, _, _ := kustomize.SplitImage(used)
	return name == entry.Name || entry.NewName != "" && name == entry.NewName
}

func (o overriding) finding(problem, evidence string) event.Finding {
	finding := event.Finding{Problem: problem, Evidence: o.where + ": " + evidence, Fix: o.remove, File: o.file}
	return finding
}

// findRenderOverridden looks for what can change the Service. Namespaces and
// the counts of replicas do not.
func findRenderOverridden(f Facts) []event.Finding {
	var found []event.Finding
	for _, o := range f.overridings() {
		k := o.kustomize
		if f.renames(k) {
			finding := o.finding(fmt.Sprintf("The Application renames Service %s", f.Request.Service), fmt.Sprintf("namePrefix %q, nameSuffix %q", k.NamePrefix, k.NameSuffix))
			finding.Effect = "The live Service has another name than the one that the overlay renders: a promotion finds none, takes it for a first deployment and fails, " +
				"because Knative refuses a revision whose name does not begin with the Service's. Put the prefix into the overlay's kustomization instead."
			finding.Severity = event.SeverityError
			found = append(found, finding)
		}
		if len(k.CommonLabels) > 0 && !k.LabelWithoutSelector {
			finding := o.finding(fmt.Sprintf("The Application adds labels to Service %s as commonLabels", f.Request.Service), fmt.Sprintf("commonLabels %v", k.CommonLabels))
			finding.Effect = "kustomize takes a Knative Service for a Kubernetes Service and also writes them into spec.selector, which Knative does not have: the Application is " +
				"OutOfSync for ever and a promotion fails. labelWithoutSelector: true avoids that."
			finding.Severity = event.SeverityError
			found = append(found, finding)
		}
		if len(k.Patches)+len(k.Components) > 0 {
			finding := o.finding("The Application patches what the overlay renders", fmt.Sprintf("%d patches, %d components", len(k.Patches), len(k.Components)))
			finding.Effect = fmt.Sprintf("A promotion does not see them. Where they change the template of Service %s, Knative refuses its commits or makes no revision "+
				"of them, because one revision's name then stands for two templates.", f.Request.Service)
			finding.Fix = "Move them into the overlay's kustomization. " + finding.Fix
			found = append(found, finding)
		}
	}
	return found
}

// renames tells whether the Service gets another name than in the overlay,
// whose own prefix and suffix are replaced by Argo CD's.
func (f Facts) renames(k v1alpha1.ApplicationSourceKustomize) bool {
	if f.Tree == nil {
		return false
	}
	own, _ := kustomize.Read(f.Tree, f.Request.Overlay) // one that cannot be read adds nothing
	return k.NamePrefix != "" && k.NamePrefix != own.NamePrefix || k.NameSuffix != "" && k.NameSuffix != own.NameSuffix
}
