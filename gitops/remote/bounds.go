package remote

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

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

// branchesShown is how many other branches are read to be shown in an error.
const branchesShown = 11

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
		res.Body = &references{lines: lines, Closer: res.Body, needed: b.needed}
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

// references is a list of references without most of those that are not needed:
// hosts list every pull request, and go-git keeps the whole list.
type references struct {
	io.Closer
	lines     *pktline.Scanner
	needed    func(reference string) bool
	abilities bool // were read
	others    int
	line      bytes.Buffer
}

// Read reads the lines that are needed.
func (r *references) Read(p []byte) (int, error) {
	for r.line.Len() == 0 {
		if !r.lines.Scan() {
			if err := r.lines.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
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

// keeps tells the lines of the protocol, the first one of which has the
// server's abilities behind a NUL, what is needed, and some others to show.
func (r *references) keeps(line []byte) bool {
	_, name, reference := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	switch {
	case !reference || line[0] == '#' || r.needed(name):
		return true
	case !r.abilities && bytes.IndexByte(line, 0) >= 0:
		r.abilities = true
		return true
	case strings.HasPrefix(name, "refs/heads/") && r.others < branchesShown:
		r.others++
		return true
	}
	return false
}
