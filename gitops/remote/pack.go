package remote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// The bounds of one pack, in bytes: as it comes, and of all that is in it. What
// is kept of it is bounded by the room that there is.
const (
	packLimit    = 1 << 30
	inflateLimit = 8 << 30
)

// FileLimit is the number of bytes up to which a file is read.
const FileLimit = 16 << 20

// TreeLimit is the number of bytes up to which a folder's tree is read. It is more than a checkout's
// may have, so that what diff lets pass keeps nobody from rolling back.
const TreeLimit = 32 << 20

// StoreLimit is the number of bytes up to which objects are kept in memory.
const StoreLimit = 64 << 20

// objectCost is what an object takes in memory beside its content, in bytes.
const objectCost = 256

// waitingLimit bounds how many deltas may come before their base.
const waitingLimit = 1 << 12

// commitLimit is how much of a commit is kept, in bytes: what names its tree and parents, and more
// of the message than anybody reads. Git makes no delta of so much for the short commits that a
// run needs (a base is at most 32 times as long), so none of them is lost with the rest.
// https://github.com/git/git/blob/v2.47.0/builtin/pack-objects.c#L2687
const commitLimit = 1 << 20

// smallestLimit is the size, in bytes, that files are kept up to in any case.
const smallestLimit = 512

// bound is what an answer exceeds. To ask for the same again is pointless.
type bound string

func (b bound) Error() string { return string(b) }

// ErrNoRoom is a pack that holds more than may be kept, even without its files.
var ErrNoRoom = bound(fmt.Sprintf("more than %d MiB would have to be kept", StoreLimit>>20))

// IsBound tells whether an error is that an answer exceeds what is read or kept of one.
func IsBound(err error) bool {
	_, is := errors.AsType[bound](err)
	return is
}

// Object is one object of the repository.
type Object struct {
	Kind    plumbing.ObjectType
	Content []byte // of a commit with a long message: the beginning

	cut bool
}

// Cost is what the object takes in memory, in bytes.
func (o Object) Cost() int64 { return int64(len(o.Content)) + objectCost }

// Pack is what a fetch brought: objects, the sizes of files that were left out,
// and how the borders of a shallow history moved.
type Pack struct {
	Objects map[plumbing.Hash]Object
	Left    map[plumbing.Hash]int64
	cost    int64
	Borders packp.ShallowUpdate
}

// TooLarge is a pack of one file that is larger than may be read.
type TooLarge struct{ Bytes int64 }

// Error says how large the file is.
func (o *TooLarge) Error() string {
	return fmt.Sprintf("has %d bytes; at most %d are read", o.Bytes, FileLimit)
}

// unpacker reads a pack and keeps what there is room for. When the room ends,
// the largest files go first: what is read of a repository is small. A file that
// is not kept is never in memory as a whole.
type unpacker struct {
	Pack
	scanner  *packfile.Scanner
	room     int64
	commits  bool  // nothing else is kept
	largest  int64 // files up to this size are kept
	inflated int64
	at       map[int64]plumbing.Hash   // objects by where they begin
	waiting  map[plumbing.Hash][]delta // deltas that came before their base
	waits    int
}

// delta is an object as the difference to another one.
type delta struct {
	at      int64
	content []byte
}

func unpack(r io.Reader, room int64, commitsOnly bool) (Pack, error) {
	u := &unpacker{
		Pack:    Pack{Objects: map[plumbing.Hash]Object{}, Left: map[plumbing.Hash]int64{}},
		scanner: packfile.NewScanner(r),
		room:    room,
		commits: commitsOnly,
		largest: FileLimit,
		at:      map[int64]plumbing.Hash{},
		waiting: map[plumbing.Hash][]delta{},
	}
	_, count, err := u.scanner.Header()
	if err != nil {
		return u.Pack, err
	}
	for range count {
		header, err := u.scanner.NextObjectHeader()
		if err != nil {
			return u.Pack, err
		}
		if count == 1 && header.Type == plumbing.BlobObject && header.Length > u.largest {
			return u.Pack, &TooLarge{header.Length}
		}
		if err := u.next(header); err != nil {
			return u.Pack, err
		}
	}
	_, err = u.scanner.Checksum()
	return u.Pack, err
}

// next reads one object.
func (u *unpacker) next(header *packfile.ObjectHeader) error {
	u.inflated += header.Length
	switch {
	case header.Length < 0 || u.inflated > inflateLimit:
		return bound(fmt.Sprintf("it holds more than %d MiB", inflateLimit>>20))
	case u.commits && (header.Type == plumbing.TreeObject || header.Type == plumbing.BlobObject):
		return u.read(header, io.Discard)
	case header.Type == plumbing.TagObject || header.Type.IsDelta() && header.Length > u.largest:
		return u.read(header, io.Discard)
	case header.Type.IsDelta():
		return u.nextDelta(header)
	case header.Type == plumbing.BlobObject && header.Length > u.largest:
		hasher := plumbing.NewHasher(header.Type, header.Length)
		err := u.read(header, hasher)
		u.Left[hasher.Sum()] = header.Length
		return err
	case header.Type == plumbing.CommitObject && header.Length > commitLimit:
		return u.cut(header)
	case header.Length > TreeLimit:
		return bound(fmt.Sprintf("a %s has %d bytes; at most %d are read", header.Type, header.Length, TreeLimit))
	}
	content, err := u.content(header)
	if err != nil {
		return err
	}
	return u.keep(header.Offset, plumbing.ComputeHash(header.Type, content), Object{Kind: header.Type, Content: content})
}

// cut keeps the beginning of a commit with a long message.
func (u *unpacker) cut(header *packfile.ObjectHeader) error {
	hasher, start := plumbing.NewHasher(header.Type, header.Length), &beginning{}
	if err := u.read(header, io.MultiWriter(hasher, start)); err != nil {
		return err
	}
	return u.keep(header.Offset, hasher.Sum(), Object{Kind: header.Type, Content: start.Bytes(), cut: true})
}

// beginning takes what is written, up to commitLimit.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), commitLimit-b.Len())])
	return len(p), nil
}

func (u *unpacker) read(header *packfile.ObjectHeader, into io.Writer) error {
	n, _, err := u.scanner.NextObject(into)
	if err == nil && n != header.Length {
		err = fmt.Errorf("an object has %d bytes, expected %d", n, header.Length)
	}
	return err
}

func (u *unpacker) content(header *packfile.ObjectHeader) ([]byte, error) {
	content := bytes.NewBuffer(make([]byte, 0, header.Length))
	err := u.read(header, content)
	return content.Bytes(), err
}

// nextDelta reads a delta. One of a file that was left out is left out too.
func (u *unpacker) nextDelta(header *packfile.ObjectHeader) error {
	content, err := u.content(header)
	if err != nil {
		return err
	}
	d, base := delta{header.Offset, content}, header.Reference
	if header.Type == plumbing.OFSDeltaObject {
		base = u.at[header.OffsetReference]
	}
	if from, ok := u.Objects[base]; ok {
		return u.apply(d, from)
	}
	if header.Type == plumbing.OFSDeltaObject {
		return nil
	}
	if u.waits++; u.waits > waitingLimit {
		return bound(fmt.Sprintf("more than %d objects of it come before what they are made of", waitingLimit))
	}
	u.waiting[base] = append(u.waiting[base], d)
	return u.spend(int64(len(content)) + objectCost)
}

// apply keeps the object that a delta makes of its base.
func (u *unpacker) apply(d delta, base Object) error {
	size, err := d.size()
	if err != nil {
		return err
	}
	if u.inflated += size; base.cut || size > TreeLimit || base.Kind == plumbing.BlobObject && size > u.largest {
		return nil
	}
	content, err := packfile.PatchDelta(base.Content, d.content)
	if err != nil {
		return err
	}
	return u.keep(d.at, plumbing.ComputeHash(base.Kind, content), Object{Kind: base.Kind, Content: content})
}

// size is how long the object is that a delta makes: the second number in it.
func (d delta) size() (int64, error) {
	_, n := binary.Uvarint(d.content)
	if n <= 0 {
		return 0, packfile.ErrInvalidDelta
	}
	size, n := binary.Uvarint(d.content[n:])
	if n <= 0 || size > inflateLimit {
		return 0, packfile.ErrInvalidDelta
	}
	return int64(size), nil
}

// keep takes an object in, and what waited for it.
func (u *unpacker) keep(at int64, name plumbing.Hash, o Object) error {
	u.at[at] = name
	if _, twice := u.Objects[name]; twice {
		return nil
	}
	u.Objects[name] = o
	if err := u.spend(o.Cost()); err != nil {
		return err
	}
	waiting := u.waiting[name]
	delete(u.waiting, name)
	for _, d := range waiting {
		if err := u.apply(d, o); err != nil {
			return err
		}
	}
	return nil
}

// spend counts what is kept and makes room by leaving out the largest files.
func (u *unpacker) spend(cost int64) error {
	for u.cost += cost; u.cost > u.room; {
		if u.largest /= 2; u.largest < smallestLimit {
			return ErrNoRoom
		}
		for name, o := range u.Objects {
			if o.Kind == plumbing.BlobObject && int64(len(o.Content)) > u.largest {
				delete(u.Objects, name)
				u.Left[name] = int64(len(o.Content))
				u.cost -= o.Cost()
			}
		}
	}
	return nil
}
