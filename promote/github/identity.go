package github

import (
	"context"
	"net/http"
)

// identityOf is the login under which the token comments; empty where nobody
// tells.
//
// A user's token may ask for its user. A workflow's token and other tokens of
// apps get 403 there, but GraphQL calls the app's bot the viewer. A forge
// without GraphQL leaves it open; the author of the first comment that the
// client makes settles it then. The login is compared with each comment's
// author: only bots have one that ends in [bot], so none can be imitated.
func identityOf(ctx context.Context, c *Client) (string, error) {
	c.mu.Lock()
	login := c.login
	c.mu.Unlock()
	if login != "" {
		return login, nil
	}
	user, _, err := c.api.Users.Get(ctx, "")
	if err == nil {
		return remember(c, user.GetLogin()), nil
	}
	if StatusOf(err) != http.StatusForbidden && StatusOf(err) != http.StatusNotFound {
		return "", err
	}
	login, err = viewerOf(ctx, c)
	if code := StatusOf(err); code >= 400 && code < 500 {
		return "", nil
	}
	return remember(c, login), err
}

func remember(c *Client, login string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.login = login
	return login
}

// viewerOf asks GraphQL for the bot of an app's token.
func viewerOf(ctx context.Context, c *Client) (string, error) {
	var data struct {
		Viewer struct {
			Login string `json:"login"`
		} `json:"viewer"`
	}
	if err := queryGraphQL(ctx, c, "query { viewer { login } }", nil, &data); err != nil && said(err) == "" {
		return "", err
	}
	return data.Viewer.Login, nil
}
