// Package journal keeps the Result of what a run does for one target, and tells a
// Reporter each event that makes it.
package journal
