package proposed

import (
	"cmp"
	"context"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/report"
)

// parts adds those with changes that none of their users shows, or with errors that none of them has. Such
// a part may be deployed by itself as well, and may not. The others with changes are named.
func (c comparison) parts(ctx context.Context, parts []kustomize.Part, shown *changes) error {
	all := slices.Clone(shown.overlays)
	for _, part := range parts {
		if shown.full() {
			shown.leave(part.Path)
			continue
		}
		users := slices.DeleteFunc(slices.Clone(all), func(o report.Overlay) bool { return !slices.Contains(part.Users, o.Path) })
		o, err := c.part(ctx, part, users)
		if err != nil {
			return err
		}
		if part.Component && len(part.Users)+len(o.Difference) == 0 && !isGone(c.head.Tree, part.Path) {
			shown.unused = append(shown.unused, cmp.Or(o.File, part.Path))
		}
		differs := o.Err+o.Large != "" || !o.Difference.Within(differences(users))
		switch {
		case !o.Changes():
		case differs || event.Count(o.Findings, event.SeverityError) > 0:
			shown.add(c.shown(o))
		default:
			shown.alike = append(shown.alike, part.Path)
		}
	}
	return nil
}

// part is one of them. A component need not render by itself.
func (c comparison) part(ctx context.Context, part kustomize.Part, users []report.Overlay) (report.Overlay, error) {
	o := c.compare(ctx, part.Path)
	if part.Component && (o.Before == nil || !isGone(c.head.Tree, part.Path)) {
		o.Err = ""
	}
	if len(o.Difference) == 0 {
		return o, nil
	}
	all, err := c.findings(ctx, o, true, false)
	if err != nil {
		return o, err
	}
	base, err := isBase(o)
	o.Findings = slices.DeleteFunc(check.OfPart(all, base), func(f event.Finding) bool {
		return slices.ContainsFunc(users, func(user report.Overlay) bool { return has(user.Findings, f) })
	})
	return o, err
}

// isBase tells whether the objects of a part name no namespace, neither before nor after. What is deployed
// by itself mostly says where to.
func isBase(o report.Overlay) (bool, error) {
	before, err := knative.Namespaced(o.Before)
	if before || err != nil {
		return false, err
	}
	after, err := knative.Namespaced(o.After)
	return !after, err
}

// has tells whether a finding is among others that are no better.
func has(findings []event.Finding, f event.Finding) bool {
	return slices.ContainsFunc(findings, func(other event.Finding) bool {
		return other.Rule == f.Rule && other.Problem == f.Problem && other.Severity >= f.Severity
	})
}

// differences are those of the overlays.
func differences(overlays []report.Overlay) (found []manifest.Difference) {
	for _, o := range overlays {
		found = append(found, o.Difference)
	}
	return found
}
