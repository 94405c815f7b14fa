package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
)

// panicLine is what a user can report, in one line: the cause and where. It is
// for a deferred function that has recovered it.
func panicLine(cause any) string {
	return fmt.Sprintf("please report this: %s%s", oneline.Of(fmt.Sprint(cause), 300), panicked())
}

// panicked is where our own code was when it panicked, or called what did.
func panicked() string {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for thrown := false; ; {
		frame, more := frames.Next()
		ours := strings.HasPrefix(frame.Function, "main.") || strings.HasPrefix(frame.Function, "github.com/acme/knative-promote/")
		if thrown && ours {
			return fmt.Sprintf(" at %s:%d", frame.File, frame.Line)
		}
		if !more {
			return ""
		}
		thrown = thrown || frame.Function == "runtime.gopanic"
	}
}
