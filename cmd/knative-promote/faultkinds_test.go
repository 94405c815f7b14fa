package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A fault is what a server, or what stands in front of it, does to a request.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// faults are those that TestFaults tries.
// Those whose names begin with grpc only Argo CD can have, those with metrics only
// Prometheus.
var faults = map[string]fault{
	"closed":               func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
	"reply lost":           replyLost,
	"reply cut":            replyCut,
	"silent":               silent,
	"drip":                 drip,
	"endless":              endless,
	"empty":                says(http.StatusOK, "", nil),
	"garbage":              says(http.StatusOK, "\x00\xff\x00\xffgarbage", nil),
	"garbage as gzip":      says(http.StatusOK, "this is no gzip", http.Header{"Content-Encoding": {"gzip"}}),
	"login page":           says(http.StatusOK, loginPage, page),
	"redirect":             redirect,
	"401":                  says(http.StatusUnauthorized, "Bad credentials", nil),
	"403":                  says(http.StatusForbidden, "Forbidden", nil),
	"404":                  says(http.StatusNotFound, "Not Found", nil),
	"429":                  says(http.StatusTooManyRequests, "slow down", nil),
	"429 after seconds":    says(http.StatusTooManyRequests, "slow down", http.Header{"Retry-After": {"1"}}),
	"429 after a date":     says(http.StatusTooManyRequests, "slow down", http.Header{"Retry-After": {"Wed, 21 Oct 2065 07:28:00 GMT"}}),
	"500":                  says(http.StatusInternalServerError, "a stack trace\nover lines", nil),
	"502 with a page":      says(http.StatusBadGateway, "<html><title>502 Bad Gateway</title></html>", page),
	"503":                  says(http.StatusServiceUnavailable, "", http.Header{"Retry-After": {"1"}}),
	"grpc unauthenticated": trailer(nil, 16, "token is expired"),
	"grpc denied late":     trailer(frame(0, ""), 7, "permission denied"),
	"grpc unavailable":     trailer(nil, 14, "transport is closing"),
	"grpc huge frame":      hugeFrame,

	"metrics of others":     lies(vector("other", "5000")),
	"metrics not a number":  lies(vector("CANDIDATE", "NaN")),
	"metrics below zero":    lies(vector("CANDIDATE", "-5")),
	"metrics with warnings": lies(`{"status": "success", "warnings": ["a store did not answer"], "data": {"resultType": "vector", "result": []}}`),
	"metrics of no kind":    lies(`{"status": "success", "data": {"resultType": "vector"}}`),
	"metrics as an error":   lies(`{"status": "error", "errorType": "timeout", "error": "query timed out in expression evaluation"}`),
}

var page = http.Header{"Content-Type": {"text/html; charset=utf-8"}}

const loginPage = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><form action=/login></form></body></html>"

// says answers as whatever the client expects.
func says(code int, body string, header http.Header) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", expected(r))
		maps.Copy(w.Header(), header)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body) // who does not read on wants no more
	}
}

// expected is the content type of a good answer.
func expected(r *http.Request) string {
	switch service := r.URL.Query().Get("service"); {
	case service != "":
		return "application/x-" + service + "-advertisement"
	case strings.Contains(r.URL.Path, ".git/"):
		return "application/x-" + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] + "-result"
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		return "application/grpc-web+proto"
	}
	return "application/json; charset=utf-8"
}

// vector is an answer of Prometheus with one series of Kourier's.
func vector(revision, value string) string {
	return fmt.Sprintf(`{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"envoy_cluster_name": "production/%s", "envoy_response_code": "200"}, "value": [1, %q]}]}}`, revision, value)
}

// lies answers a query, but not the one for the time. It may name the candidate.
func lies(body string) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		found := clusters.FindStringSubmatch(r.FormValue("query"))
		if found == nil {
			next.ServeHTTP(w, r)
			return
		}
		says(http.StatusOK, strings.ReplaceAll(body, "CANDIDATE", found[1]), nil)(w, r, next)
	}
}

func replyLost(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	answerOf(r, next)
	panic(http.ErrAbortHandler)
}

func replyCut(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := answerOf(r, next)
	answer.header.Del("Content-Length")
	answer.write(w, answer.body.Len()/2)
	panic(http.ErrAbortHandler)
}

// silent keeps the connection and says nothing.
func silent(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// drip says a byte of the true answer at a time.
func drip(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := answerOf(r, next)
	answer.write(w, 0)
	for n := range answer.body.Bytes() {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		_, _ = w.Write(answer.body.Bytes()[n : n+1])
		w.(http.Flusher).Flush()
	}
}

// endless begins well and never ends.
func endless(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", expected(r))
	for chunk := bytes.Repeat([]byte(" "), 1<<16); ; {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// stranger is a host that nobody has named. It counts the requests that come
// to it all the same.
type stranger struct {
	*httptest.Server
	requests atomic.Int32
}

var elsewhere = sync.OnceValue(func() *stranger {
	s := &stranger{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.requests.Add(1) }))
	return s
})

func redirect(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Location", elsewhere().URL+r.URL.RequestURI())
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// frame is one of grpc-web's: a kind, a length and so much data.
func frame(kind byte, data string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(data))), data...)
}

// trailer answers with an error that comes after what is said first.
func trailer(first []byte, code int, message string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return says(http.StatusOK, string(first)+string(frame(0x80, fmt.Sprintf("grpc-status: %d\r\ngrpc-message: %s\r\n", code, message))), nil)
}

// hugeFrame announces a message of 4 GiB and sends on and on.
func hugeFrame(w http.ResponseWriter, r *http.Request, next http.Handler) {
	w.Header().Set("Content-Type", expected(r))
	_, _ = w.Write([]byte{0, 0xff, 0xff, 0xff, 0xff})
	endless(w, r, next)
}

// answer is what a handler answers, kept back.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func answerOf(r *http.Request, next http.Handler) *answer {
	a := &answer{header: http.Header{}, code: http.StatusOK}
	next.ServeHTTP(a, r)
	return a
}

func (a *answer) Header() http.Header            { return a.header }
func (a *answer) WriteHeader(code int)           { a.code = code }
func (a *answer) Write(part []byte) (int, error) { return a.body.Write(part) }
func (a *answer) Flush()                         {}

// write writes the head and so many bytes of the body.
func (a *answer) write(w http.ResponseWriter, length int) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body.Bytes()[:length]) // who does not read on wants no more
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
