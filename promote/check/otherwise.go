package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
)

// ErrNoApplication says that nobody deploys an overlay that Argo CD could be asked of.
var ErrNoApplication = errors.New("no Application that the token sees deploys the overlay")

// findOtherwise leaves out what another rule explains. In a change that is proposed anything that is shown counts.
func findOtherwise(f Facts) []found {
	what := values{"Unrendered": "", "Fields": []string{}, "Decides": false, "Command": ""}
	if f.Unrendered != nil {
		what["Unrendered"] = oneline.Of(f.Unrendered.Error(), 1000)
		return []found{{severity: errorIf(!errors.Is(f.Unrendered, ErrNoApplication)), values: what}}
	}
	if len(f.Otherwise) == 0 || f.finds(ruleImageOverridden) || f.finds(ruleOverridden) {
		return nil
	}
	decides := slices.ContainsFunc(f.Otherwise, func(line string) bool { return strings.HasPrefix(line, "Service "+f.Request.Service+": ") })
	var lines []string
	for _, line := range some(f.Otherwise) {
		lines = append(lines, oneline.Of(line, 300)) // somebody's names and keys
	}
	what["Fields"], what["Decides"] = lines, decides
	what["Command"] = fmt.Sprintf("argocd app manifests %s --revision %s", f.Request.App, f.Commit)
	return []found{{severity: errorIf(decides || f.Before != nil), values: what}}
}
