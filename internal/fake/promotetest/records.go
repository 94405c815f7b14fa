package promotetest

import (
	"context"
	"errors"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// recordFollows tells whether a commit's record goes on from the one before it. That of a candidate on a pull request's branch
// goes on from the branch that it is to be merged into, and where the overlay did not render it begins anew.
func (j judge) recordFollows(ctx context.Context, before, c Commit) error {
	is := j.record(c)
	was := j.record(before).Of(record.Place{Repository: is.Repository, Branch: is.Branch, Overlay: is.Overlay})
	if was.Exists() && !renders(before, j.Overlay) {
		return nil
	}
	if prepared := is.Pull > 0 && !is.HasBegun(); !prepared && !record.Follows(is, was) {
		return errors.New("its record tells otherwise of what came before")
	}
	if !was.Exists() {
		return nil // it may begin from what others have made of the cluster
	}
	then, errThen := knative.Read(ctx, before.Files, j.Overlay, j.Service)
	now, errNow := knative.Read(ctx, c.Files, j.Overlay, j.Service)
	if errThen == nil && errNow == nil && !record.LeadsBetween(is, was, then, now) {
		return errors.New("its record leads from what the overlay did not have, or to what it does not have")
	}
	return nil
}

// record is that of a commit; the zero Record: it has none that can be read.
func (j judge) record(c Commit) record.Record {
	text, err := knative.ReadRecord(c.Files, j.Overlay, j.Service)
	if err != nil {
		return record.Record{}
	}
	r, err := record.Parse(text)
	if err != nil {
		return record.Record{}
	}
	return r
}
