package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// A Refusal is an answer of Gitea that says no.
type Refusal struct {
	Asked   string // method and path
	Status  int
	Message string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", r.Asked, r.Status, http.StatusText(r.Status), r.Message)
}

// isNotFound tells a refusal because there is no such thing.
func isNotFound(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	return ok && refusal.Status == http.StatusNotFound
}

// call makes one request of the API (https://docs.gitea.com/api/) as an
// account: the admin's password and Gitea's Sudo header open every one. It
// reads the answer into out where that is not nil.
func (f *Forge) call(ctx context.Context, as, method, path string, in, out any) error {
	request, err := f.request(ctx, as, method, path, in)
	if err != nil {
		return fmt.Errorf("asking Gitea: %w", err)
	}
	response, err := f.client.Do(request)
	if err != nil {
		return fmt.Errorf("asking Gitea: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("asking Gitea: %s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		var said struct{ Message string }
		if json.Unmarshal(text, &said) != nil {
			said.Message = string(text)
		}
		return fmt.Errorf("asking Gitea: %w", &Refusal{method + " " + path, response.StatusCode, said.Message})
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("asking Gitea: %s %s: reading the answer: %w", method, path, err)
	}
	return nil
}

func (f *Forge) request(ctx context.Context, as, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, f.API()+path, body)
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(Admin, f.Password(Admin))
	request.Header.Set("Content-Type", "application/json")
	if as != Admin {
		request.Header.Set("Sudo", as)
	}
	return request, nil
}

// API is the address of Gitea's API, which clients of GitHub's can talk to.
func (f *Forge) API() string { return f.URL + "/api/v1" }
