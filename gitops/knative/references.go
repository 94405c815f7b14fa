package knative

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// A Reference is a ConfigMap or Secret that a template names.
type Reference struct {
	Kind, Name string
	Optional   bool // pods start without it
}

// String is the kind and the name.
func (r Reference) String() string { return r.Kind + " " + r.Name }

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
