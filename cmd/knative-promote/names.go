package main

import "github.com/acme/knative-promote/cmd/knative-promote/console"

// Names for what has moved, until its users say the package.
type (
	runner   = console.Console
	note     = console.Note
	output   = console.Output
	workflow = console.Workflow
)
