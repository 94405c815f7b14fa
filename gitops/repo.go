// Package gitops reads and changes the infra repository: the tip of one
// branch, a commit by its hash, its tree as an fs.FS, and commits that are
// published to the branch. What commits say, their dates and their order decide
// nothing.
//
// Nothing is cloned and there is no work tree. A partial fetch brings the
// commit at the tip, then only the trees on the way to a folder, then that
// folder's small files, when one is read. A change is written as blobs, trees
// and a commit into memory and pushed as one small pack. So what is read and
// sent grows with the folders on the way, not with the repository, its history
// or the files that nobody reads. A server that gives no parts out sends whole
// commits; the memory for those is bounded too, and holds the small files.
package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/internal/oneline"
)

// The errors that a caller may tell apart with errors.Is.
var (
	// ErrUnchanged: the edit gave the tree that was there; nothing was pushed.
	ErrUnchanged = errors.New("the change makes no difference")
	// ErrContention: the branch kept moving until the attempts or the time ended.
	ErrContention = errors.New("the branch keeps moving")
	// ErrTaken: the branch of a proposal is there and shows something else.
	ErrTaken = errors.New("the branch is there and shows something else")
)

// Repo is one branch of one infra repository. What it has read stays in bounded
// memory for the next call. Its methods may be used by several goroutines; its fields
// are set before the first call.
type Repo struct {
	// Author and Committer are those of the commits that Publish makes.
	Author, Committer Person
	// Sign, unless nil, gives the signature of a commit object, armored.
	Sign func(commit []byte) (string, error)
	// API, unless nil, has the forge make the commits, which then says who made them
	// and signs them. Its errors are ErrStale, ErrRefused and ErrAuth, or of an
	// answer that is not known.
	API func(context.Context, APICommit) error
	// Now gives the time of a commit; nil: time.Now.
	Now func() time.Time
	// PublishAttempts bounds how often Publish edits anew after the branch
	// moved; zero: 60.
	PublishAttempts int
	// PublishTimeout bounds the whole of Publish; zero: five minutes.
	PublishTimeout time.Duration

	branch plumbing.ReferenceName
	remote *remote.Remote
	store  *store.Store
}

// Open checks the address and the credentials of a repository. It makes no
// network access.
func Open(c remote.Config) (*Repo, error) {
	branch, err := branchName(c.Branch)
	if err != nil {
		return nil, err
	}
	short, full, byDefault := remote.MayBe(c.Branch), remote.MayBe(branch.String()), remote.MayBe("")
	r, err := remote.New(c, func(reference string) bool {
		return reference == branch.String() || short(reference) || full(reference) || byDefault(reference)
	})
	if err != nil {
		return nil, err
	}
	return &Repo{branch: branch, remote: r, store: store.New(r)}, nil
}

// branchName checks the name of a branch and makes it a full reference.
func branchName(branch string) (plumbing.ReferenceName, error) {
	name := plumbing.NewBranchReferenceName(branch)
	if err := name.Validate(); err != nil || strings.HasPrefix(branch, "refs/") || strings.HasPrefix(branch, "-") {
		return "", fmt.Errorf("branch %q: expected the short name of a branch, such as main", oneline.Brief(branch))
	}
	return name, nil
}

// MayPush asks the server whether the credentials may push to the repository,
// and pushes nothing. A no is ErrAuth or ErrNotFound. A yes is not about the
// branch: what its rules say comes with a push only.
func (r *Repo) MayPush(ctx context.Context) error { return r.remote.MayPush(ctx) }

// Tip reads the branch's newest commit.
func (r *Repo) Tip(ctx context.Context) (Snapshot, error) {
	tip, err := r.tipOf(ctx, r.branch)
	if err != nil {
		return Snapshot{}, err
	}
	return r.snapshot(ctx, tip), nil
}

// tipOf is the newest commit of a branch.
func (r *Repo) tipOf(ctx context.Context, branch plumbing.ReferenceName) (commit, error) {
	hash, err := r.store.Tip(ctx, branch)
	if err != nil {
		return commit{}, err
	}
	return r.commit(hash)
}

// commit is a commit that is in memory.
func (r *Repo) commit(hash plumbing.Hash) (commit, error) {
	raw, err := r.store.Read(plumbing.CommitObject, hash)
	if err != nil {
		return commit{}, err
	}
	return parseCommit(hash, raw)
}

// At reads a commit by its full name. It need not be in the branch: what the
// name stands for is up to whoever gives it. Servers give out commits by name;
// where one does not, as plain Git over ssh or a path, the commit is looked for
// behind the branch's tip, as far as memory allows. One that is not there is
// ErrNotFound.
func (r *Repo) At(ctx context.Context, name string) (Snapshot, error) {
	lower := strings.ToLower(name)
	if !plumbing.IsHash(lower) {
		return Snapshot{}, fmt.Errorf("commit %q: expected its full name of 40 hexadecimal digits, as git rev-parse prints it", oneline.Brief(name))
	}
	hash := plumbing.NewHash(lower)
	err := r.store.At(ctx, r.branch, hash)
	var c commit
	if err == nil {
		c, err = r.commit(hash)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("commit %s: %w", lower, err)
	}
	return r.snapshot(ctx, c), nil
}

// behindLimit is how far behind a commit others are looked for, in commits of one line.
const behindLimit = 1024

// A Message is what the message of a commit says.
type Message struct {
	Commit string   // its full name
	Values []string // of the lines with a key, as those of a squash merge may be several

	Tip  string    // on the branch's own line: the commit itself, or the merge that has brought it
	Time time.Time // when it was committed, as it says
}

// Behind are the commits behind one whose messages have a trailer, as far as a server gives them
// out without what is in them, none otherwise: those that have been the branch's tip, the newest
// first, and after each one what it has brought. The zero Trailer: all. Their values are those of a
// key. Anybody may have written a message, so who asks must look at what the commits have.
func (r *Repo) Behind(ctx context.Context, commit string, trailer Trailer, key string) (found []Message, err error) {
	line := trailer.Key + ": " + oneline.Of(trailer.Value, valueLimit)
	err = r.store.Behind(ctx, plumbing.NewHash(commit), behindLimit, func(past store.Past) {
		if values, has := valuesIn(past.Message, line, key+": "); has || trailer == (Trailer{}) {
			found = append(found, Message{Commit: past.Hash.String(), Tip: past.Tip.String(), Time: signature(past.Committer).When, Values: values})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("looking behind commit %.12s: %w", commit, err)
	}
	return found, nil
}

// mostValues is how many different values of a key are read of one message: that of a squash may
// have those of many commits.
const mostValues = 1000

// valuesIn are the values that a message, which may be long, gives a key, and whether a line is in it.
func valuesIn(message []byte, line, key string) (values []string, has bool) {
	known := map[string]bool{}
	for l := range bytes.Lines(message) {
		l = bytes.TrimSuffix(l, []byte("\n"))
		has = has || string(l) == line
		if value, is := bytes.CutPrefix(l, []byte(key)); is && len(value) <= valueLimit && !known[string(value)] && len(known) < mostValues {
			known[string(value)] = true
			values = append(values, string(value))
		}
	}
	return values, has
}

func (r *Repo) snapshot(ctx context.Context, c commit) Snapshot {
	tree := &treeFS{ctx: ctx, objects: r.store, commit: c.hash, root: c.tree, time: c.Time}
	return Snapshot{Commit: c.Commit, Tree: tree}
}

// ProposalPrefix is what the names of branches for pull requests begin with.
const ProposalPrefix = "promote-"

// newCommit writes the commit object of a change, signed where the Repo signs.
func (r *Repo) newCommit(tree, parent plumbing.Hash, m message) (plumbing.EncodedObject, error) {
	now := time.Now()
	if r.Now != nil {
		now = r.Now()
	}
	c := object.Commit{
		Author:       r.Author.signature(now),
		Committer:    r.Committer.signature(now),
		Message:      m.String(),
		TreeHash:     tree,
		ParentHashes: []plumbing.Hash{parent},
	}
	if err := r.sign(&c); err != nil {
		return nil, err
	}
	encoded := &plumbing.MemoryObject{}
	if err := c.Encode(encoded); err != nil {
		return nil, fmt.Errorf("writing the commit: %w", err)
	}
	return encoded, nil
}

// sign puts the signature into the commit. Git has one header for those of
// OpenPGP and of SSH, and tells them apart by their first line.
func (r *Repo) sign(c *object.Commit) error {
	if r.Sign == nil {
		return nil
	}
	encoded := &plumbing.MemoryObject{}
	if err := c.EncodeWithoutSignature(encoded); err != nil {
		return fmt.Errorf("writing the commit: %w", err)
	}
	content, err := store.ReadObject(encoded)
	if err != nil {
		return err
	}
	c.PGPSignature, err = r.Sign(content)
	return err
}
