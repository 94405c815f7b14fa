package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// exchange runs one conversation with the server, which begins with a command,
// under a deadline.
func exchange[T any](ctx context.Context, r *Remote, command string, talk func(context.Context) (T, error)) (T, error) {
	began := time.Now()
	value, err := converse(ctx, r, talk)
	if r.exchanged != nil {
		r.exchanged(command, time.Since(began), err)
	}
	return value, err
}

// converse does not wait for go-git longer than the deadline: an ssh handshake,
// for one, heeds no context. So talk must not write to anything that outlives it.
func converse[T any](ctx context.Context, r *Remote, talk func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		value, err := talk(limited)
		done <- answer{value, err}
	}()
	var got answer
	select {
	case got = <-done:
	case <-limited.Done():
		got.err = limited.Err()
	}
	switch {
	case got.err == nil || limited.Err() == nil:
		return got.value, got.err
	case ctx.Err() != nil:
		return got.value, ctx.Err()
	default:
		return got.value, fmt.Errorf("no answer within %s: %w", r.timeout, context.DeadlineExceeded)
	}
}

func (r *Remote) fetching(ctx context.Context, at *transport.Endpoint) (transport.UploadPackSession, error) {
	auth, err := r.credentials(ctx)
	if err != nil {
		return nil, err
	}
	return r.transport.NewUploadPackSession(at, auth)
}

func (r *Remote) pushing(ctx context.Context, at *transport.Endpoint) (transport.ReceivePackSession, error) {
	auth, err := r.credentials(ctx)
	if err != nil {
		return nil, err
	}
	return r.transport.NewReceivePackSession(at, auth)
}

// Advertisement is what a server says first: its references and abilities.
type Advertisement struct {
	References   map[string]plumbing.Hash
	Capabilities *capability.List
}

// Advertised asks for references as a reader sees them. Of those that are
// neither among these nor needed, some may be left out.
func (r *Remote) Advertised(ctx context.Context, references ...plumbing.ReferenceName) (Advertisement, error) {
	return reading(ctx, r, func(ctx context.Context) (Advertisement, error) {
		endpoint := r.at()
		session, err := r.fetching(ctx, endpoint)
		if err != nil {
			return Advertisement{}, err
		}
		defer func() { _ = session.Close() }()
		refs, err := session.AdvertisedReferencesContext(asking(ctx, references...))
		if err != nil {
			return Advertisement{}, err
		}
		r.moved(endpoint)
		return Advertisement{refs.References, refs.Capabilities}, nil
	})
}

// Request is one fetch.
type Request struct {
	Wants, Haves, Shallows []plumbing.Hash
	Depth                  int
	Filter                 packp.Filter
	Limit                  int64 // of the answer, in bytes; zero: packLimit
	Room                   int64 // for what is kept of it, in bytes
	CommitsOnly            bool  // nothing else of it is kept, whatever the server sends
}

// Fetch asks for the objects of a request.
func (r *Remote) Fetch(ctx context.Context, can *capability.List, q Request) (Pack, error) {
	return reading(ctx, r, func(ctx context.Context) (Pack, error) {
		session, err := r.fetching(ctx, r.at())
		if err != nil {
			return Pack{}, err
		}
		defer func() { _ = session.Close() }()
		req, err := q.encode(can)
		if err != nil {
			return Pack{}, err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		res, err := session.UploadPack(ctx, req)
		if err != nil {
			return Pack{}, err
		}
		defer func() { _ = res.Close() }()
		got, err := q.unpack(demultiplexed(res, req.Capabilities))
		if err != nil {
			// go-git ends a process or a connection after a failed read. Without
			// one, closing waits for a server that waits for a reader.
			stop()
			_, _ = io.Copy(io.Discard, res)
		}
		if large, ok := errors.AsType[*TooLarge](err); ok {
			got.Left[q.Wants[0]], err = large.Bytes, nil
		}
		if err != nil {
			return Pack{}, fmt.Errorf("reading the pack: %w", err)
		}
		got.Borders = res.ShallowUpdate
		return got, nil
	})
}

// unpack reads the pack out of the answer.
func (q Request) unpack(answer io.Reader) (Pack, error) {
	limit := cmp.Or(q.Limit, packLimit)
	limited := &io.LimitedReader{R: answer, N: limit}
	got, err := unpack(limited, q.Room, q.CommitsOnly)
	if _, large := errors.AsType[*TooLarge](err); err != nil && !large && limited.N <= 0 {
		err = bound(fmt.Sprintf("it is larger than %d MiB", limit>>20))
	}
	return got, err
}

func (q Request) encode(can *capability.List) (*packp.UploadPackRequest, error) {
	req := packp.NewUploadPackRequestFromCapabilities(can)
	// go-git sorts the lists in place.
	req.Wants, req.Haves, req.Shallows = slices.Clone(q.Wants), slices.Clone(q.Haves), slices.Clone(q.Shallows)
	req.Depth, req.Filter = packp.DepthCommits(q.Depth), q.Filter
	wanted := map[capability.Capability]bool{
		capability.NoProgress: can.Supports(capability.NoProgress),
		capability.Shallow:    q.Depth > 0 || len(q.Shallows) > 0,
		capability.Filter:     q.Filter != "",
	}
	for name, set := range wanted {
		if !set {
			continue
		}
		if err := req.Capabilities.Set(name); err != nil {
			return nil, fmt.Errorf("asking for %s: %w", name, err)
		}
	}
	return req, nil
}

// demultiplexed is the pack in an answer that also says how far the server is.
func demultiplexed(answer io.Reader, asked *capability.List) io.Reader {
	switch {
	case asked.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, answer)
	case asked.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, answer)
	}
	return answer
}

// Update is one push: a branch that is to go from one commit to another.
type Update struct {
	Branch      plumbing.ReferenceName
	Old, Commit plumbing.Hash // zero old: the branch is to be made
	Pack        []byte        // the objects that are new
}

// Push asks for an update of a branch that must still be at the old commit.
// Neither an error nor its absence tells anything certain about the branch; but
// if sent is false, the server cannot have seen the new commit.
func (r *Remote) Push(ctx context.Context, u Update) (sent bool, err error) {
	var said remarks
	var sending atomic.Bool
	_, err = exchange(ctx, r, transport.ReceivePackServiceName, func(ctx context.Context) (struct{}, error) {
		endpoint := r.at()
		session, err := r.pushing(ctx, endpoint)
		if err != nil {
			return struct{}{}, err
		}
		defer func() { _ = session.Close() }()
		refs, err := session.AdvertisedReferencesContext(asking(ctx, u.Branch))
		if err != nil {
			return struct{}{}, err
		}
		if refs.References[u.Branch.String()] != u.Old {
			return struct{}{}, ErrRaced
		}
		r.moved(endpoint)
		sending.Store(true)
		command := &packp.Command{Name: u.Branch, Old: u.Old, New: u.Commit}
		return struct{}{}, sendPack(ctx, session, refs.Capabilities, command, u.Pack, &said)
	})
	return sending.Load(), r.explain("pushing to", err, &said)
}

func sendPack(ctx context.Context, session transport.ReceivePackSession, can *capability.List, command *packp.Command, pack []byte, said *remarks) error {
	req := packp.NewReferenceUpdateRequestFromCapabilities(can)
	req.Commands = []*packp.Command{command}
	req.Packfile = io.NopCloser(bytes.NewReader(pack))
	// Without a side band the server's explanation of a refusal is lost.
	req.Progress = said
	for _, name := range []capability.Capability{capability.Sideband64k, capability.Quiet} {
		if !can.Supports(name) {
			continue
		}
		if err := req.Capabilities.Set(name); err != nil {
			return fmt.Errorf("asking for %s: %w", name, err)
		}
	}
	report, err := session.ReceivePack(ctx, req)
	if report != nil && err != nil {
		return &refusal{"refused", reason(report, err)}
	}
	return err
}

// reason is the server's status without what go-git adds to it.
func reason(report *packp.ReportStatus, err error) string {
	for _, command := range report.CommandStatuses {
		if report.UnpackStatus == "ok" && command.Error() != nil {
			return command.Status
		}
	}
	return err.Error()
}
