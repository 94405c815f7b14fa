// Package version tells which version of the program runs.
package version

import "runtime/debug"

// version is set by the linker in released images.
var version string

// Of is the program's version.
func Of() string {
	if info, ok := debug.ReadBuildInfo(); version == "" && ok {
		return info.Main.Version
	}
	return version
}
