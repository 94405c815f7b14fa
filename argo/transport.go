package argo

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"connectrpc.com/connect"

	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/oneline"
)

// An httpClient sends one request as it is: it follows no redirect, keeps no cookie, and names
// what answers in place of Argo CD. It is connect's HTTP client.
type httpClient struct {
	transport http.RoundTripper
	header    http.Header // added to every request
}

// Do implements connect.HTTPClient.
func (c *httpClient) Do(req *http.Request) (*http.Response, error) {
	maps.Copy(req.Header, c.header)
	if host := c.header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, unreachable(req.URL, err)
	}
	if err := notArgoCD(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	// connect reads on to the end of a message that is too long.
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxBody)
	return resp, nil
}

// maxBody bounds the body of an answer. A stream of events that comes to it is opened
// again.
const maxBody = 2 * maxMessage

// unreachable gives errors that another try would meet again a code that is not retried,
// and a hint.
func unreachable(u *url.URL, err error) error {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	hint := ""
	switch {
	case errors.As(err, &unknown):
		hint = "is its CA certificate given, as argocd-ca?"
	case errors.As(err, &verify):
		hint = "is this the name in its certificate?"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		hint = "does it speak HTTP without TLS? That must be allowed explicitly, as plaintext"
	default:
		return err
	}
	return connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("%s: %w (%s)", u.Host, err, hint))
}

// notArgoCD reports an answer that cannot come from Argo CD's API.
func notArgoCD(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch code := resp.StatusCode; {
	case strings.HasPrefix(kind, "application/grpc-web"):
		return nil
	case code >= 300 && code < 400:
		return problem(connect.CodeFailedPrecondition, "Argo CD redirected to %s: a login page or a wrong address?", httpx.RedirectsTo(resp))
	case code == http.StatusUnauthorized:
		return problem(connect.CodeUnauthenticated, "something in front of Argo CD answered %s", resp.Status)
	case code == http.StatusForbidden:
		return problem(connect.CodePermissionDenied, "something in front of Argo CD answered %s", resp.Status)
	case code == http.StatusTooManyRequests || code >= 500:
		return problem(connect.CodeUnavailable, "answered %s", resp.Status)
	case kind == "text/html":
		return problem(connect.CodeFailedPrecondition, "answered with a web page%s instead of Argo CD's API: a login page or a wrong address?", title(resp.Body))
	case code == http.StatusOK && kind == "": // of a server that is about to stop
		return problem(connect.CodeUnavailable, "the answer is empty")
	case code != http.StatusOK:
		return problem(connect.CodeFailedPrecondition, "answered %s: is this Argo CD, and is the root path right?", resp.Status)
	}
	return problem(connect.CodeFailedPrecondition, "answered with content type %q: is this Argo CD?", kind)
}

func problem(code connect.Code, format string, args ...any) error {
	return connect.NewError(code, fmt.Errorf(format, args...))
}

// title is the title of a web page, as a hint whose page it is.
func title(body io.Reader) string {
	head, _ := io.ReadAll(io.LimitReader(body, 8<<10))
	found := regexp.MustCompile(`(?is)<title[^>]*>(.{1,200}?)</title`).FindSubmatch(head)
	if found == nil {
		return ""
	}
	return fmt.Sprintf(" titled %q", oneline.Brief(string(found[1])))
}
