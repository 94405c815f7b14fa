// Package destination finds what a rollback leads to: what had the traffic before and was
// good, by the record, the overlays of earlier commits and the revisions that there are.
package destination
