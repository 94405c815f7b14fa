package console

import (
	"cmp"
	"net/http"
	"time"
)

// Trace puts around what sends requests what prints each of them and its answer
// as a line of debug, where debug logging is on.
func (c *Console) Trace(server string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		if !c.debug {
			return next
		}
		return traced{c, server, next}
	}
}

// Exchanged prints each exchange with a server that is not over HTTP as a line
// of debug: its command and how it ended. The address holds no password.
func (c *Console) Exchanged(server, address string) func(command string, took time.Duration, err error) {
	return func(command string, took time.Duration, err error) {
		end := "done"
		if err != nil {
			end = err.Error()
		}
		c.Debugf("%s: %s %s: %s in %s", server, command, address, OneLine(c.Redact(end)), rounded(took))
	}
}

func rounded(took time.Duration) time.Duration { return took.Round(100 * time.Microsecond) }

// traced sends requests and says so.
type traced struct {
	console *Console
	server  string
	next    http.RoundTripper
}

// RoundTrip sends a request. Its query and headers are not printed, of the
// answer its status.
func (t traced) RoundTrip(request *http.Request) (*http.Response, error) {
	address := *request.URL
	address.User, address.RawQuery = nil, ""
	began := time.Now()
	answer, err := t.next.RoundTrip(request)
	took := rounded(time.Since(began))
	if err != nil {
		t.console.Debugf("%s: %s %s: no answer in %s: %v", t.server, request.Method, &address, took, err)
		return answer, err
	}
	// What is hidden is found in the whole text only.
	status := OneLine(t.console.Redact(cmp.Or(answer.Header.Get("grpc-message"), http.StatusText(answer.StatusCode))))
	t.console.Debugf("%s: %s %s: %d %.200s in %s", t.server, request.Method, &address, answer.StatusCode, status, took)
	return answer, nil
}

// CloseIdleConnections closes those of what sends the requests.
func (t traced) CloseIdleConnections() {
	(&http.Client{Transport: t.next}).CloseIdleConnections()
}
