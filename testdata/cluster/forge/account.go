package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// User makes an account.
func (f *Forge) User(ctx context.Context, name string) error {
	return f.call(ctx, Admin, http.MethodPost, "/admin/users", map[string]any{
		"username": name, "email": name + "@example.com", "password": f.Password(name), "must_change_password": false,
	}, nil)
}

// Password is what an account logs in with.
func (f *Forge) Password(user string) string { return f.secret.of("password of " + user) }

// Token makes a token of an account. Gitea's scopes are write:repository,
// read:issue and their like: https://docs.gitea.com/development/oauth2-provider#scopes.
func (f *Forge) Token(ctx context.Context, user string, scopes ...string) (string, error) {
	var have []token
	if err := f.call(ctx, Admin, http.MethodGet, tokens(user), nil, &have); err != nil {
		return "", err
	}
	var made token
	err := f.call(ctx, Admin, http.MethodPost, tokens(user), map[string]any{
		"name": fmt.Sprintf("token %d", len(have)+1), "scopes": scopes,
	}, &made)
	return made.Value, err
}

// Revoke takes all tokens of an account away.
func (f *Forge) Revoke(ctx context.Context, user string) error {
	var have []token
	if err := f.call(ctx, Admin, http.MethodGet, tokens(user), nil, &have); err != nil {
		return err
	}
	for _, t := range have {
		if err := f.call(ctx, Admin, http.MethodDelete, fmt.Sprintf("%s/%d", tokens(user), t.ID), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

type token struct {
	ID    int64  `json:"id"`
	Value string `json:"sha1"` // told once, when it is made
}

func tokens(user string) string { return "/users/" + url.PathEscape(user) + "/tokens" }
