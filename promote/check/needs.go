package check

import "github.com/acme/knative-promote/argo"

// has tells whether a fact that rules need is there, by its name in the front
// matter of their pages; known is false where no fact has the name.
func (f Facts) has(need string) (there, known bool) {
	switch need {
	case "application":
		return f.Setup.App != nil, true
	case "automation": // Argo CD syncs the Application by itself
		return f.Setup.App != nil && argo.Automated(f.Setup.App), true
	case "customizations": // of argocd-cm
		return f.Setup.Overrides != nil, true
	case "next": // the Service as the overlay renders it with the images set
		return rendered(f.Next) != nil, true
	case "overlay":
		return f.Overlay != nil, true
	case "project":
		return f.Setup.Project != nil, true
	case "service": // in the cluster
		return f.Service != nil, true
	case "source": // of the Application, that deploys the overlay
		source, _ := f.source()
		return source != nil, true
	}
	return false, false
}
