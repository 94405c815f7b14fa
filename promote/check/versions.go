package check

import "github.com/acme/knative-promote/gitops/kustomize"

// findDiffering looks for what versions of kustomize render otherwise. Where Argo CD has rendered the overlay,
// another rule says what of it is another. Nobody knows which version will render a change that is proposed.
func findDiffering(f Facts) []found {
	proposed := f.Before != nil
	if f.Rendered && !proposed {
		return nil
	}
	var all []found
	for _, d := range f.Differs {
		all = append(all, found{severity: errorIf(proposed), at: place{File: d.File}, values: values{"What": d.What, "File": d.File, "Instead": d.Instead, "Ours": kustomize.Version}})
	}
	return all
}
