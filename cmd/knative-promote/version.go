package main

import "runtime/debug"

// version is set by the linker in released images.
var version string

// versionOf is the program's version.
func versionOf() string {
	if info, ok := debug.ReadBuildInfo(); version == "" && ok {
		return info.Main.Version
	}
	return version
}
