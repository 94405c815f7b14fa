package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// The bounds of answers over HTTP, in bytes, unzipped: of an error, which go-git
// reads whole to put it into its own, of a list of references, of the answer to
// a push, and of one to a fetch, beside its pack.
const (
	errorLimit     = 16 << 10
	referenceLimit = 256 << 20
	reportLimit    = 1 << 20
	answerLimit    = packLimit + 64<<20
)

// branchesShown is how many other branches are read to be shown in an error, and neededKept how many
// references are kept that are needed and not asked for by their names: anybody may push more.
const (
	branchesShown = 11
	neededKept    = 1000
)

// asked is the key of the references, by their full names, that an exchange asks for in its context.
type asked struct{}

func asking(ctx context.Context, references ...plumbing.ReferenceName) context.Context {
	var names []string
	for _, reference := range references {
		names = append(names, reference.String())
	}
	return context.WithValue(ctx, asked{}, names)
}

// bounded bounds what is read of answers, which go-git does not.
type bounded struct {
	next   http.RoundTripper
	needed func(reference string) bool
}

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch {
	case res.StatusCode >= 300:
		res.Body = http.MaxBytesReader(nil, res.Body, errorLimit)
	case strings.HasSuffix(req.URL.Path, "/info/refs"):
		lines := pktline.NewScanner(&limited{res.Body, referenceLimit})
		names, _ := req.Context().Value(asked{}).([]string)
		res.Body = &references{lines: lines, Closer: res.Body, asked: names, needed: b.needed}
	case strings.HasSuffix(req.URL.Path, "/git-receive-pack"):
		res.Body = &limited{res.Body, reportLimit}
	default:
		res.Body = &limited{res.Body, answerLimit}
	}
	return res, nil
}

// limited is an answer that is an error where it goes on for too long.
type limited struct {
	io.ReadCloser
	left int64
}

// Read reads while there is something left.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, bound("the answer is too large")
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// references is a list of references without most of those that are not asked for:
// hosts list every pull request, and go-git keeps the whole list.
type references struct {
	io.Closer
	lines     *pktline.Scanner
	asked     []string
	needed    func(reference string) bool
	abilities bool // were read
	ended     bool // before the list did
	found     int  // of those that are asked for
	kept      int  // of those that are needed
	others    int
	line      bytes.Buffer
}

// Read reads the lines that are needed. A list that is too long ends when all are found that are
// asked for: what comes later does not keep a run from its branch.
func (r *references) Read(p []byte) (int, error) {
	for r.line.Len() == 0 {
		if r.ended {
			return 0, io.EOF
		}
		if !r.lines.Scan() {
			if err := r.failed(); err != nil {
				return 0, err
			}
			continue
		}
		line := r.lines.Bytes()
		if !r.keeps(line) {
			continue
		}
		if len(line) == 0 {
			r.line.Write(pktline.FlushPkt)
			continue
		}
		fmt.Fprintf(&r.line, "%04x%s", len(line)+4, line)
	}
	return r.line.Read(p)
}

// failed is why there is no line more; nil: the list is too long, and ends here.
func (r *references) failed() error {
	err := r.lines.Err()
	_, large := errors.AsType[bound](err)
	switch {
	case err == nil:
		return io.EOF
	case !large || len(r.asked) == 0:
		return err
	case r.found < len(r.asked):
		return bound(fmt.Sprintf("the first %d MiB of its list of references do not have %s: delete branches that nobody needs",
			referenceLimit>>20, strings.Join(r.asked, " and ")))
	}
	r.ended = true
	r.line.Write(pktline.FlushPkt)
	return nil
}

// keeps tells the lines of the protocol, the first one of which has the
// server's abilities behind a NUL, what is asked for or needed, and some others to show.
func (r *references) keeps(line []byte) bool {
	_, name, reference := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	if !reference || line[0] == '#' {
		return true
	}
	name, _, first := strings.Cut(name, "\x00")
	abilities := first && !r.abilities
	r.abilities = r.abilities || first
	switch {
	case slices.Contains(r.asked, name):
		r.found++
		return true
	case abilities:
		return true
	case r.kept < neededKept && r.needed(name):
		r.kept++
		return true
	case strings.HasPrefix(name, "refs/heads/") && r.others < branchesShown:
		r.others++
		return true
	}
	return false
}
