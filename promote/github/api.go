package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-github/v60/github"
)

// Name is the repository, as owner/name.
func (c *Client) Name() string { return c.owner + "/" + c.name }

// Path is a path of the API below the repository's.
func (c *Client) Path(format string, args ...any) string {
	return "repos/" + c.Name() + "/" + fmt.Sprintf(format, args...)
}

// Read reads an answer in JSON that go-github has no type for.
func (c *Client) Read(ctx context.Context, path string, into any) error {
	request, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if _, err := c.api.Do(ctx, request, &raw); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Send sends a request of whose answer the status alone matters.
func (c *Client) Send(ctx context.Context, method, path string, body any) (status int, err error) {
	request, err := c.api.NewRequest(method, path, body)
	if err != nil {
		return 0, err
	}
	answer, err := c.api.Do(ctx, request, nil)
	if empty, ok := errors.AsType[*emptyError](err); ok {
		return empty.status, nil
	}
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, nil
}

// StatusOf is the HTTP status of a refusal, 0 for other errors.
func StatusOf(err error) int {
	var refusal *github.ErrorResponse
	if errors.As(err, &refusal) && refusal.Response != nil {
		return refusal.Response.StatusCode
	}
	return 0
}

// Refusal is what the forge says of a request that it refuses, in one line without the
// token.
func Refusal(c *Client, err error) string {
	if refusal, ok := errors.AsType[*github.ErrorResponse](err); ok {
		return cleaned(c, refusal.Message)
	}
	return ""
}
