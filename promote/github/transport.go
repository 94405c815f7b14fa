package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
)

const (
	requestTimeout = 20 * time.Second // for one request and its whole answer
	maxAnswer      = 16 << 20         // bytes read of one answer; 100 comments of the greatest length are mostly below 7 MiB
	maxTries       = 5                // how often one request is sent
)

// transport sends requests to the API and nowhere else, and waits as the API
// asks while there is patience.
//
// go-github would add the token to requests that follow a redirect to another
// host too, knows rate limits in one of their shapes only, and refuses calls
// by itself after it has seen one; so it gets to see none.
type transport struct {
	next  http.RoundTripper
	token string
	api   *url.URL

	mu       sync.Mutex
	patience time.Duration // left for waiting
	closed   time.Time     // GitHub asked not to be called before
}

// RoundTrip sends a request until it is answered. Other errors than those of
// the network and limits are the answer's.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != t.api.Scheme || request.URL.Host != t.api.Host {
		return nil, fmt.Errorf("refused to send a request to %s, which is not the API's host", request.URL.Host)
	}
	for try := 1; ; try++ {
		if err := t.open(time.Now()); err != nil {
			return nil, err
		}
		answer, body, err := t.once(request)
		pause, why := retry(request, answer, body, err, try)
		if why == "" {
			return answer, err
		}
		if err := t.wait(request.Context(), pause, why, try); err != nil {
			return nil, err
		}
	}
}

// once sends the request and reads its answer under one deadline.
func (t *transport) once(request *http.Request) (*http.Response, []byte, error) {
	caller := request.Context()
	ctx, cancel := context.WithTimeout(caller, requestTimeout)
	defer cancel()
	request = request.Clone(ctx)
	request.Header.Set("Authorization", "Bearer "+t.token)
	limitPage(request.URL)
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, nil, err
		}
		request.Body = body
	}
	answer, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, nil, late(caller, ctx, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return nil, nil, late(caller, ctx, err)
	}
	if len(body) > maxAnswer {
		return nil, nil, fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
	}
	if len(body) == 0 && (answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusCreated) {
		return nil, nil, &emptyError{answer.StatusCode}
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, body, nil
}

// limitPage gives the size of a page by Gitea's name for it too, which knows no other.
func limitPage(address *url.URL) {
	query := address.Query()
	if size := query.Get("per_page"); size != "" {
		query.Set("limit", size)
		address.RawQuery = query.Encode()
	}
}

// emptyError is a success without an answer, which go-github would take for an
// empty list. Gitea says no more when it merges.
type emptyError struct{ status int }

// Error says so.
func (*emptyError) Error() string { return "the answer is empty" }

// late says in words that the time for one request, not the caller's, was over.
func late(caller, ctx context.Context, err error) error {
	if caller.Err() == nil && ctx.Err() != nil {
		return fmt.Errorf("no answer within %s", requestTimeout)
	}
	return err
}

// open reports an error while GitHub does not want to be called.
func (t *transport) open(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.closed) {
		return fmt.Errorf("GitHub asked not to be called before %s", t.closed.UTC().Format("15:04:05 UTC"))
	}
	return nil
}

// wait sleeps, or gives up at once where that would take longer than there is
// patience or time left.
func (t *transport) wait(ctx context.Context, pause time.Duration, why string, try int) error {
	now := time.Now()
	t.mu.Lock()
	enough := pause <= t.patience && try < maxTries
	if deadline, set := ctx.Deadline(); set && now.Add(pause).After(deadline) {
		enough = false
	}
	if enough {
		t.patience -= pause
	} else if now.Add(pause).After(t.closed) {
		t.closed = now.Add(pause)
	}
	t.mu.Unlock()
	if !enough {
		return fmt.Errorf("%s; not waiting %s for another try", why, pause.Round(time.Second))
	}
	return sleep.For(ctx, pause)
}

// stay follows redirects of reads on the same host only. A redirected write
// would be sent as a read, or a second time.
func stay(request *http.Request, via []*http.Request) error {
	switch first := via[0]; {
	case first.Method != http.MethodGet:
		return errors.New("the API redirects writes: was the repository renamed?")
	case request.URL.Scheme != first.URL.Scheme || !strings.EqualFold(request.URL.Host, first.URL.Host):
		return fmt.Errorf("the API redirects to another host, %s", request.URL.Host)
	case len(via) > 5:
		return errors.New("the API redirects in a circle")
	}
	return nil
}
