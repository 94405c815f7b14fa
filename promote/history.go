package promote

import (
	"context"
	"regexp"
	"strconv"
)

// History names the Service and lists the promotions and rollbacks that the
// overlay's record has, newest first: the one that the overlay shows now, and up
// to ten before it.
func History(ctx context.Context, target Target, branch Branch) (service string, entries []Entry, err error) {
	tip, err := branch.Tip(ctx)
	if err != nil {
		return "", nil, err
	}
	at, err := infra{Target: target, debug: func(string) {}}.situation(ctx, tip)
	if err != nil {
		return "", nil, err
	}
	if at.Unreadable != nil {
		return "", nil, unreadable(at.Now, at.Unreadable)
	}
	return at.Service, at.Record.of(target).entries(), nil
}

// runAddress is that of a workflow run: the server and the number, which grows
// over all repositories of a server.
var runAddress = regexp.MustCompile(`^(https?://[^/]+)/.+/actions/runs/([0-9]{1,18})(?:/|$)`)

// newerRun tells whether a workflow run was started after another one.
func newerRun(run, than string) bool {
	a, b := runAddress.FindStringSubmatch(run), runAddress.FindStringSubmatch(than)
	if a == nil || b == nil || a[1] != b[1] {
		return false
	}
	x, errX := strconv.ParseInt(a[2], 10, 64)
	y, errY := strconv.ParseInt(b[2], 10, 64)
	return errX == nil && errY == nil && x > y
}
