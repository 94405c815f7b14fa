package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
)

// findOtherwise leaves out what another rule explains.
func findOtherwise(f Facts) []found {
	if len(f.Otherwise) == 0 || f.finds(ruleImageOverridden) || f.finds(ruleOverridden) {
		return nil
	}
	decides := slices.ContainsFunc(f.Otherwise, func(line string) bool { return strings.HasPrefix(line, "Service "+f.Request.Service+": ") })
	var lines []string
	for _, line := range some(f.Otherwise) {
		lines = append(lines, oneline.Of(line, 300)) // somebody's names and keys
	}
	return []found{{severity: errorIf(decides), values: values{
		"Fields": lines, "Decides": decides,
		"Command": fmt.Sprintf("argocd app manifests %s --revision %s", f.Request.App, f.Commit),
	}}}
}
