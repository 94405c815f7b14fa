package check

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// What commands to paste need to know.

// application is the Application's name as kubectl takes it.
func (f Facts) application() string {
	if f.Setup.App == nil {
		return f.Request.App.Name
	}
	return f.Setup.App.Name
}

// argocd is the namespace of Argo CD itself.
func (f Facts) argocd() string {
	if f.Setup.App == nil {
		return "argocd"
	}
	return cmp.Or(f.Setup.App.Status.ControllerNamespace, f.Setup.App.Namespace, "argocd")
}

// namespace is that of the Service.
func (f Facts) namespace() string {
	if f.Service != nil {
		return f.Service.Namespace
	}
	if service := rendered(f.Overlay); service != nil && service.Namespace != "" {
		return service.Namespace
	}
	if f.Setup.App != nil {
		return f.Setup.App.Spec.Destination.Namespace
	}
	return ""
}

// second is a moment as Argo CD's interface shows it.
func second(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 MST") }

// span is a time as people say it, to the minute.
func span(d time.Duration) string {
	if days := d / (24 * time.Hour); days >= 2 {
		return fmt.Sprintf("%d days", days)
	}
	text := strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return cmp.Or(text, "less than a minute")
}

// andMore is a list of which so many are left out; below one: none is.
func andMore(lines []string, left int) []string {
	if left > 0 {
		return append(lines, fmt.Sprintf("and %d more", left))
	}
	return lines
}

// common are the values that every page has.
func (f Facts) common() values {
	v := values{
		"Application": f.application(),                                 // its name as kubectl takes it
		"ArgoCD":      f.argocd(),                                      // the namespace of Argo CD itself
		"ForArgoCD":   cmp.Or(f.Request.App.String(), f.application()), // the Application's name as argocd takes it
		"Branch":      f.Request.Source.Branch,
		"Commit":      fmt.Sprintf("%.10s", f.Commit),
		"Namespace":   f.namespace(), // of the Service
		"Overlay":     f.Request.Overlay,
		"Project":     "",
		"RBAC":        policyObject(f), // the Application as Argo CD's policies name it
		"Service":     f.Request.Service,
	}
	if f.Overlay != nil {
		v["Service"], v["Overlay"] = f.Overlay.Service(), f.Overlay.Overlay
	}
	if f.Setup.App != nil {
		v["Project"] = f.Setup.App.Spec.GetProject()
	}
	return v
}
