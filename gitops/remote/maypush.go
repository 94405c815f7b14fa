package remote

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
)

// MayPush asks the server whether the credentials may push to the repository,
// and pushes nothing. A no is ErrAuth or ErrNotFound. A yes is not about the
// branch: what its rules say comes with a push only. Gitea says yes to whoever
// may read too, and no to their push, since anybody may open a pull request by
// one (https://docs.gitea.com/usage/agit).
func (r *Remote) MayPush(ctx context.Context) error {
	_, err := retry(ctx, r, transport.ReceivePackServiceName, "asking to push to", func(ctx context.Context) (struct{}, error) {
		session, err := r.pushing(ctx, r.at())
		if err != nil {
			return struct{}{}, err
		}
		defer func() { _ = session.Close() }()
		_, err = session.AdvertisedReferencesContext(asking(ctx, r.branch))
		return struct{}{}, readOnly(err)
	})
	return err
}

// readOnly recognizes what hosts say over ssh to a key that may only read,
// such as "The key you are authenticating with has been marked as read only.":
// there is no status code for it.
func readOnly(err error) error {
	if err == nil || kindOf(err) != nil {
		return err
	}
	text := strings.ToLower(err.Error())
	for _, words := range []string{
		"read only", "read-only", // GitHub, Bitbucket
		"write access",            // GitLab
		"not authorized to write", // Gitea, Forgejo
	} {
		if strings.Contains(text, words) {
			return fmt.Errorf("%w: %w", transport.ErrAuthorizationFailed, err)
		}
	}
	return err
}
