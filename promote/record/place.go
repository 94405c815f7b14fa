package record

import (
	"fmt"

	"github.com/acme/knative-promote/internal/repourl"
)

// A Place is the overlay that a record is written for.
type Place struct {
	Repository string // its address
	Branch     string
	Overlay    string // folder of the kustomize overlay, slash-separated, relative to the repository
}

// Of is the record if it was written for the place. One that came with a copy of the
// folder, from another branch or another repository tells nothing of this one.
func (r Record) Of(place Place) Record {
	if Elsewhere(r, place) != "" {
		return Record{}
	}
	return r
}

// Elsewhere names in words what a record is of that was not written for the place;
// empty: it was.
func Elsewhere(r Record, here Place) string {
	switch {
	case r.Overlay != here.Overlay:
		return "the overlay " + r.Overlay
	case r.Repository != here.Repository && !repourl.Same(r.Repository, here.Repository):
		return fmt.Sprintf("the repository %s, and this is %s", orNone(r.Repository), orNone(repourl.Shown(here.Repository)))
	case r.Branch != here.Branch:
		return fmt.Sprintf("the branch %s, and this is %s", orNone(r.Branch), orNone(here.Branch))
	}
	return ""
}

func orNone(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}
