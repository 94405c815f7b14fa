package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/review"
)

// maxMessage bounds what is quoted of an answer, in bytes.
const maxMessage = 300

// The permissions that a token may lack.
const (
	mayComment    = "pull-requests: write"
	maySetStatus  = "statuses: write"
	mayReadStatus = "statuses: read"
	mayDeploy     = "deployments: write"
)

// MayPropose are the permissions that pull requests need.
const MayPropose = "pull-requests: write and contents: write"

// A DeniedError is that GitHub does not accept the token, or not for this.
type DeniedError struct{ text string }

// Error is what GitHub answered, and what the token needs.
func (e *DeniedError) Error() string { return e.text }

// Explain replaces an error of go-github by one line without the token, which
// names the permission that a request needs: a DeniedError where that is what is
// missing, a review.AwayError where the forge may answer later.
func (c *Client) Explain(err error, permission string) error {
	if err == nil {
		return nil
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			return ended
		}
	}
	var refusal *github.ErrorResponse
	if errors.As(err, &refusal) {
		text := cleaned(c, words(refusal, permission))
		switch code := StatusOf(err); {
		case code == http.StatusUnauthorized, code == http.StatusForbidden:
			return &DeniedError{text}
		case code >= 500 && code != http.StatusNotImplemented:
			return &review.AwayError{Err: errors.New(text)}
		}
		return errors.New(text)
	}
	var failed *url.Error
	if errors.As(err, &failed) { // the address adds nothing, and may be foreign after a redirect
		return &review.AwayError{Err: errors.New(cleaned(c, failed.Err.Error()))}
	}
	return errors.New(cleaned(c, err.Error()))
}

// words says what GitHub answered, and what to do about it.
func words(refusal *github.ErrorResponse, permission string) string {
	code := refusal.Response.StatusCode
	text := fmt.Sprintf("GitHub answered %d %s", code, http.StatusText(code))
	for _, message := range append([]github.Error{{Message: refusal.Message}}, refusal.Errors...) {
		if message.Message != "" {
			text += ": " + message.Message
		}
	}
	text = strings.TrimSuffix(text, ".")
	switch code {
	case http.StatusUnauthorized:
		return text + "; the token is wrong or has expired"
	case http.StatusForbidden:
		return text + "; the token needs the permission " + permission
	case http.StatusNotFound:
		return text + "; it does not exist, or the token cannot see it"
	}
	return text
}

// cleaned makes foreign text one bounded line without the token.
func cleaned(c *Client, text string) string {
	return oneline.Of(c.secrets.Hide(text), maxMessage)
}
