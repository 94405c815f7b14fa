// Package event says what a run has done and seen, as values.
//
// An [Event] is one thing that has happened. A [Result] is what the events up to now have
// made of it, and outputs, pages, statuses and deployments are made from that. The
// package reads nothing and asks nobody.
package event
