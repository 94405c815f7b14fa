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
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// The errors that a caller may tell apart with errors.Is.
var (
	// ErrUnchanged: the edit gave the tree that was there; nothing was pushed.
	ErrUnchanged = errors.New("the change makes no difference")
	// ErrAuth: the server did not accept the credentials, or not for this.
	ErrAuth = errors.New("access denied")
	// ErrUnreachable: the server does not answer, or asks to be left alone, which may pass.
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrContention: the branch kept moving until the attempts or the time ended.
	ErrContention = errors.New("the branch keeps moving")
	// ErrNotFound: there is no such repository, branch or commit.
	ErrNotFound = errors.New("not found")
	// ErrTaken: the branch of a proposal is there and shows something else.
	ErrTaken = errors.New("the branch is there and shows something else")
	// ErrRefused: the server's hooks or branch protection do not take the commit.
	ErrRefused = errors.New("refused by the server")
)

// Remote says where the infra repository is and how to get in.
type Remote struct {
	// URL is an https, http, ssh or file URL, user@host:path, or a local path
	// that starts with / or a dot. It holds no password.
	URL string
	// Branch is the name of the branch, such as main.
	Branch string
	// Token is sent as the password of HTTP basic authentication.
	Token string
	// Mint, unless nil, gives the token before each exchange with a server over
	// HTTP, in place of Token. Where it is ErrAuth, another try is pointless.
	Mint func(context.Context) (string, error)
	// SSHKey is a private key in PEM form, without a passphrase.
	SSHKey []byte
	// KnownHosts are lines as in ~/.ssh/known_hosts; ssh needs them.
	KnownHosts []byte
	// Timeout bounds one exchange with the server; zero: one minute.
	Timeout time.Duration
	// Patience is how long a server that has answered before is waited for when
	// it is away, as while it is restarted; zero: two minutes.
	Patience time.Duration
	// Around, unless nil, is put around what sends requests over HTTP, to see
	// them.
	Around func(http.RoundTripper) http.RoundTripper
	// Exchanged, unless nil, is told of each exchange that is not over HTTP: its
	// command, such as git-upload-pack, how long it took, and its error.
	Exchanged func(command string, took time.Duration, err error)
}

// Person is the author or the committer of a commit.
type Person struct{ Name, Email string }

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

	branch  plumbing.ReferenceName
	remote  *remote
	objects *objects
}

// Commit is one commit of the branch.
type Commit struct {
	// Hash is the full name of the commit in hexadecimal.
	Hash string
	// Parents are the full names of its parents, first parent first.
	Parents []string
	// Author wrote the change, at Time.
	Author Person
	// Time is when it was committed.
	Time time.Time
	// Subject is the first paragraph of the message as one line, cut where it is
	// long. No more of the message is read: anybody may have written it.
	Subject string
}

// Snapshot is a commit with its tree.
type Snapshot struct {
	Commit Commit
	// Tree is the content of the commit. It implements fs.ReadDirFS,
	// fs.ReadFileFS, fs.StatFS and fs.ReadLinkFS, fetches a folder when it is
	// first read, and stops working when the context ends that the snapshot was
	// made with. Links inside the tree are followed; a link that leaves it and
	// a submodule are errors.
	Tree fs.FS
}

// Open checks the address and the credentials of a repository. It makes no
// network access.
func Open(remote Remote) (*Repo, error) {
	branch, err := branchName(remote.Branch)
	if err != nil {
		return nil, err
	}
	r, err := newRemote(remote, branch)
	if err != nil {
		return nil, err
	}
	return &Repo{branch: branch, remote: r, objects: newObjects(r)}, nil
}

// Tip reads the branch's newest commit.
func (r *Repo) Tip(ctx context.Context) (Snapshot, error) {
	tip, err := r.objects.tip(ctx, r.branch)
	if err != nil {
		return Snapshot{}, err
	}
	return r.snapshot(ctx, tip), nil
}

func (r *Repo) snapshot(ctx context.Context, c commit) Snapshot {
	tree := &treeFS{ctx: ctx, objects: r.objects, commit: c.hash, root: c.tree, time: c.Time}
	return Snapshot{Commit: c.Commit, Tree: tree}
}
