// Package commit makes one change of the infra repository of what is to be edited for
// several targets.
package commit
