package gitops

import (
	"errors"
	"fmt"
	"io/fs"
)

// An APICommit is a commit that the forge makes, in the place of a push.
type APICommit struct {
	Branch        string            // its short name
	Head          string            // commit that it must be at
	Subject, Body string            // of the message
	Files         map[string][]byte // path to content; nil content deletes the file
}

var (
	// ErrStale: the forge did not make a commit, as the branch was no longer at its
	// head.
	ErrStale = errors.New("the branch is no longer there")
	// ErrPlainOnly: the forge can only make plain files.
	ErrPlainOnly = errors.New("the forge's API makes plain files alone")
)

// checkPlain refuses to replace what the forge would make a plain file of.
func checkPlain(tip Snapshot, files map[string][]byte) error {
	for name, content := range files {
		info, err := fs.Lstat(tip.Tree, name)
		if errors.Is(err, fs.ErrNotExist) || content == nil {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Type() != 0 || info.Mode().Perm()&0o111 != 0 {
			return fmt.Errorf("%s is a link or may be executed: %w: set commit to git, or make it a plain file", name, ErrPlainOnly)
		}
	}
	return nil
}
