package proposal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acme/knative-promote/promote/policy"
	"github.com/acme/knative-promote/promote/setting"
)

// PoliciesTime is the longest that all policies together may take. The API
// server's limits allow about a second for one policy and one object.
const PoliciesTime = 30 * time.Second

// ReadPolicies reads the policies in a tree.
func ReadPolicies(tree fs.FS, patterns []string) (policy.Set, error) {
	set, err := policy.Read(tree, patterns)
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return set, fmt.Errorf("policies: %w", err)
	}
	if err != nil {
		return set, setting.Bad("policies: %w", err)
	}
	return set, nil
}

// TooLong is the error of policies whose evaluation was ended, by their own time
// unless that of the run is over too.
func TooLong(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return setting.Bad("policies: evaluating them takes longer than %s: expected fewer, or simpler expressions", PoliciesTime)
}
