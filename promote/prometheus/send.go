package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/acme/knative-promote/internal/httpx"
)

// maxBody bounds an answer. One sample has some 200 bytes.
const maxBody = 4 << 20

// send makes one request. A redirect is an error: the headers are for one host.
func (c *Client) send(ctx context.Context, method, endpoint string, form url.Values) (Answer, error) {
	request, err := c.request(ctx, method, endpoint, form)
	if err != nil {
		return Answer{}, err
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return Answer{}, refusal(response, body)
	case err != nil:
		return Answer{}, fmt.Errorf("reading the answer: %w", err)
	case len(body) > maxBody:
		return Answer{}, fmt.Errorf("the answer has more than %d MiB: expected fewer series", maxBody>>20)
	case isPage(response):
		return Answer{}, errors.New("answered with a web page instead of JSON: a login page or a wrong address?")
	}
	return decode(body)
}

func (c *Client) request(ctx context.Context, method, endpoint string, form url.Values) (*http.Request, error) {
	target := *c.base
	target.User = nil
	target.Path += "/api/v1/" + endpoint
	body := form.Encode()
	if method == http.MethodGet {
		query := target.Query()
		maps.Copy(query, form)
		target.RawQuery, body = query.Encode(), ""
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), strings.NewReader(body))
	if err != nil {
		return nil, errors.New("the address cannot be requested") // the error would show it
	}
	request.Header = c.header.Clone()
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if host := c.header.Get("Host"); host != "" {
		request.Host = host
	}
	return request, nil
}

// refusal says what a status means, with Prometheus' own words where it has some.
func refusal(response *http.Response, body []byte) error {
	refused := &statusError{code: response.StatusCode}
	var said reply
	switch {
	case json.Unmarshal(body, &said) == nil && said.Error != "":
		refused.text = said.words()
	case refused.code/100 == 3:
		refused.text = "it redirects to " + httpx.RedirectsTo(response) + ": a login page or a wrong address?"
	case refused.code == http.StatusUnauthorized, refused.code == http.StatusForbidden:
		refused.text = "is the header with the credentials given and right?"
	case refused.code == http.StatusNotFound:
		refused.text = "is this the address that /api/v1/query is below?"
	}
	return refused
}

func isPage(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "text/html"
}
