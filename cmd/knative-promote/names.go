package main

import (
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
)

// Names for what has moved, until its users say the package.
type (
	runner        = console.Console
	note          = console.Note
	output        = console.Output
	workflow      = console.Workflow
	settings      = inputs.Settings
	checkSettings = inputs.CheckSettings
)

const (
	cmdRollback = inputs.Rollback
	cmdCheck    = inputs.Check
	cmdDiff     = inputs.Diff
	cmdHistory  = inputs.History

	formatJSON    = inputs.FormatJSON
	formatSARIF   = inputs.FormatSARIF
	failOnNever   = inputs.FailOnNever
	failOnWarning = inputs.FailOnWarning
)
