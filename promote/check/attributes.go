package check

import (
	"path"

	"github.com/acme/knative-promote/gitops"
)

// CheckoutConverts is the rule about what git checks out as something else than the commit has.
const CheckoutConverts = "checkout-converts"

// findConverted looks for files that the overlay is rendered from and that git checks out as something else.
func findConverted(f Facts) []found {
	if f.Tree == nil {
		return nil
	}
	var all []found
	attributesOf := map[string]func(name string) string{}
	for _, file := range f.Reads {
		folder, name := path.Split(file)
		if attributesOf[folder] == nil {
			attributesOf[folder] = gitops.Converts(f.Tree, path.Clean(folder))
		}
		if attribute := attributesOf[folder](name); attribute != "" {
			all = append(all, found{severity: errorIf(f.Before != nil && attribute != "eol"), at: place{file, 1}, values: values{"Name": file, "Attribute": attribute}})
		}
	}
	return all
}
