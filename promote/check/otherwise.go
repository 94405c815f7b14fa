package check

import (
	"fmt"
	"slices"
	"strings"
)

// findOtherwise leaves out what another rule explains.
func findOtherwise(f Facts) []found {
	if len(f.Otherwise) == 0 || f.finds(ruleImageOverridden) || f.finds(ruleOverridden) {
		return nil
	}
	decides := slices.ContainsFunc(f.Otherwise, func(line string) bool { return strings.HasPrefix(line, "Service "+f.Request.Service+": ") })
	return []found{{severity: errorIf(decides), values: values{
		"Fields": some(f.Otherwise), "Decides": decides,
		"Command": fmt.Sprintf("argocd app manifests %s --revision %s", f.Request.App, f.Commit),
	}}}
}
