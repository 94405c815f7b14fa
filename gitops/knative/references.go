package knative

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A Reference is an object of Kubernetes' core that a template names.
type Reference struct {
	Kind, Name string
	Optional   bool // pods start without it
}

// String is the kind and the name.
func (r Reference) String() string { return r.Kind + " " + r.Name }

// Names are references in a sentence.
func Names(refs []Reference) string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.String())
	}
	return strings.Join(names, " and ")
}

// References are the ConfigMaps and Secrets that the containers and volumes of a
// template name, as often as they do.
func References(spec corev1.PodSpec) []Reference {
	var found []Reference
	add := func(kind, name string, optional *bool) {
		if name != "" {
			found = append(found, Reference{kind, name, optional != nil && *optional})
		}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		containerReferences(c, add)
	}
	for _, v := range spec.Volumes {
		volumeReferences(v.VolumeSource, add)
	}
	return found
}

// needed are what pods of a template need to start: beside what it reads, its ServiceAccount, the
// secrets that images are pulled with, and its volume claims.
func needed(spec corev1.PodSpec) []Reference {
	found := References(spec)
	if name := spec.ServiceAccountName; name != "" && name != "default" {
		found = append(found, Reference{Kind: "ServiceAccount", Name: name})
	}
	for _, secret := range spec.ImagePullSecrets {
		found = append(found, Reference{Kind: "Secret", Name: secret.Name})
	}
	for _, v := range spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			found = append(found, Reference{Kind: "PersistentVolumeClaim", Name: v.PersistentVolumeClaim.ClaimName})
		}
	}
	return found
}

// Missing are what pods of a revision need to start, and neither the template of an overlay reads
// any more nor the overlay has: what has no more users is often taken away.
func Missing(spec corev1.PodSpec, now *State) (missing []Reference) {
	service, err := now.Written()
	if err != nil {
		return nil
	}
	has := coreNames(now)
	for _, ref := range needed(service.Spec.Template.Spec.PodSpec) {
		has[ref.String()] = true
	}
	for _, ref := range needed(spec) {
		if !ref.Optional && !has[ref.String()] {
			has[ref.String()] = true
			missing = append(missing, ref)
		}
	}
	return missing
}

// Removed are what pods of the template of an overlay need to start, and a change takes out of it.
func Removed(before, after *State) (removed []Reference) {
	had, has := coreNames(before), coreNames(after)
	service, err := before.Written()
	if err != nil {
		return nil
	}
	for _, ref := range needed(service.Spec.Template.Spec.PodSpec) {
		if name := ref.String(); !ref.Optional && had[name] && !has[name] {
			removed, had[name] = append(removed, ref), false
		}
	}
	return removed
}

// coreNames are the kinds and names of the objects of Kubernetes' core.
func coreNames(s *State) map[string]bool {
	found := map[string]bool{}
	for _, o := range s.Objects() {
		if o.GetAPIVersion() == "v1" {
			found[o.GetKind()+" "+o.GetName()] = true
		}
	}
	return found
}

func containerReferences(c corev1.Container, add func(kind, name string, optional *bool)) {
	for _, from := range c.EnvFrom {
		if ref := from.ConfigMapRef; ref != nil {
			add("ConfigMap", ref.Name, ref.Optional)
		}
		if ref := from.SecretRef; ref != nil {
			add("Secret", ref.Name, ref.Optional)
		}
	}
	for _, env := range c.Env {
		if env.ValueFrom == nil {
			continue
		}
		if ref := env.ValueFrom.ConfigMapKeyRef; ref != nil {
			add("ConfigMap", ref.Name, ref.Optional)
		}
		if ref := env.ValueFrom.SecretKeyRef; ref != nil {
			add("Secret", ref.Name, ref.Optional)
		}
	}
}

func volumeReferences(v corev1.VolumeSource, add func(kind, name string, optional *bool)) {
	if v.ConfigMap != nil {
		add("ConfigMap", v.ConfigMap.Name, v.ConfigMap.Optional)
	}
	if v.Secret != nil {
		add("Secret", v.Secret.SecretName, v.Secret.Optional)
	}
	if v.Projected == nil {
		return
	}
	for _, s := range v.Projected.Sources {
		if s.ConfigMap != nil {
			add("ConfigMap", s.ConfigMap.Name, s.ConfigMap.Optional)
		}
		if s.Secret != nil {
			add("Secret", s.Secret.Name, s.Secret.Optional)
		}
	}
}
