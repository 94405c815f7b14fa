package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
)

// saidError is what GraphQL answers in the place of data. It comes with the
// status 200.
type saidError struct{ messages string }

// Error is what was said.
func (e *saidError) Error() string { return e.messages }

// queryGraphQL asks for what REST has not. Its address is beside the REST API's:
// /graphql on github.com, /api/graphql beside /api/v3.
func queryGraphQL(ctx context.Context, c *Client, query string, variables map[string]any, data any) error {
	address := "graphql"
	if strings.HasSuffix(c.api.BaseURL.Path, "/v3/") {
		address = "../graphql"
	}
	asked := map[string]any{"query": query}
	if variables != nil {
		asked["variables"] = variables
	}
	request, err := c.api.NewRequest(http.MethodPost, address, asked)
	if err != nil {
		return err
	}
	answer := struct {
		Data   any `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}{Data: data}
	if _, err := c.api.Do(ctx, request, &answer); err != nil {
		return err
	}
	var said []string
	for _, e := range answer.Errors {
		said = append(said, oneline.Of(e.Message, maxMessage))
	}
	return refusedBy(c, said)
}

// refusedBy is the error of what was said. Trouble of GitHub's own decides nothing:
// it comes as "Something went wrong while executing your query".
func refusedBy(c *Client, said []string) error {
	if len(said) == 0 {
		return nil
	}
	words := cleaned(c, strings.Join(said, "; "))
	if words == "" || strings.HasPrefix(words, "Something went wrong") {
		return fmt.Errorf("GitHub answered without a reason: %s", cmp.Or(words, "nothing"))
	}
	return &saidError{words}
}

// said is what GraphQL has answered; empty for other errors.
func said(err error) string {
	if e, ok := errors.AsType[*saidError](err); ok {
		return e.messages
	}
	return ""
}
