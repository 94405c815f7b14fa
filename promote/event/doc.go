// Package event says what a run has done and seen, as values: the commands, the
// statuses, and the Result, which outputs, pages, statuses and deployments are made from.
// It reads nothing and asks nobody.
package event
