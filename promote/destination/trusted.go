package destination

import (
	"context"
	"slices"

	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// trusts tells whether the files of a commit are those of the branch, and may come back as they are. Of any other one, which
// anybody can make, its images alone count, which the record or the cluster has too.
func (f Finder) trusts(ctx context.Context, commit string) bool {
	if slices.ContainsFunc(f.At.Record.Of(f.At.Place()).Entries(), func(e record.Entry) bool { return e.Base == commit }) {
		return true
	}
	if f.Has == nil {
		return false
	}
	has, err := f.Has(ctx, commit)
	return has && err == nil
}

// wasRecorded refuses the version of a commit that neither the cluster has, ready and of that
// template, nor, by its images, the record: anybody who may push any branch, or ask for a pull
// request from a fork, can make a commit.
func (f Finder) wasRecorded(dest plan.Destination, commit string) error {
	if dest.Found != nil && dest.Found.IsReady() {
		if fits, err := dest.State.Fits(dest.Found, f.At.Live); err == nil && fits {
			return nil
		}
	}
	for _, e := range f.At.Record.Of(f.At.Place()).Entries() {
		if e.From.SameImages(dest.State) && !e.Rollback || e.To.SameImages(dest.State) && e.Ended == record.Promoted {
			return nil
		}
	}
	return setting.Bad("to: %.10s: revision %s of that commit is not in the cluster as that commit has it, and nothing in the record of %s had all traffic with its images: expected a commit with a version that had; a promotion asks the gates of others",
		commit, dest.Revision, f.At.Overlay)
}
