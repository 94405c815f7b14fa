package inputs

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote"
)

// checkPreflight keeps policies from being asked for that nobody would look at.
func checkPreflight(s *Settings, given origins) string {
	if s.Command != Promote || s.Promote.Preflight != promote.PreflightOff {
		return ""
	}
	for _, name := range []string{"policies", "pod-security", "strict"} {
		if given.source(name) != "" {
			return fmt.Sprintf("%s (%s): preflight is off, so nothing is looked at; remove it, or set preflight to error or warn", name, given.source(name))
		}
	}
	return ""
}

// checkFormat keeps what is no finding from being asked for as one. In the environment
// it may stand for check.
func checkFormat(s *Settings, given origins) string {
	if s.Command != History || s.Check.Format != FormatSARIF || !strings.HasPrefix(given.source("format"), "--") {
		return ""
	}
	return fmt.Sprintf("format: %q (%s): a history has no findings; expected text or json", FormatSARIF, given.source("format"))
}
