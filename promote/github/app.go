package github

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-github/v60/github"
)

// ErrApp means that GitHub does not give a token to the App: it does not know
// it or its key, or the App may not do this in the repository.
var ErrApp = errors.New("no token for the GitHub App")

// renewal is how long before its end a token is replaced: longer than anything
// that is done with it.
const renewal = 10 * time.Minute

// Purpose says what the tokens of an App are for.
type Purpose string

// The purposes.
const (
	Contents    Purpose = ""              // to push
	Statuses    Purpose = "statuses"      // to read and set commit statuses
	Deployments Purpose = "deployments"   // to make deployments and say how far they are
	Pulls       Purpose = "pull-requests" // to open and merge pull requests
)

// App is a GitHub App. It has tokens made that may write the contents of one
// repository and nothing else. A token lives for an hour, so a promotion that
// takes longer needs more than one. It is safe for concurrent use.
type App struct {
	// Purpose is what the tokens are good for; the zero value is Contents.
	Purpose Purpose

	config Config
	id     string
	key    *rsa.PrivateKey

	mu    sync.Mutex
	token string
	ends  time.Time
}

// ParseAppKey reads the private key of a GitHub App.
func ParseAppKey(text []byte) (*rsa.PrivateKey, error) {
	key, err := jwt.ParseRSAPrivateKeyFromPEM(text)
	if err != nil {
		return nil, errors.New("expected an RSA private key in PEM, as GitHub gives it out for the App")
	}
	return key, nil
}

// NewApp returns the App with this id, or client id, and key for the repository
// of the config, whose Token does not matter. It sends nothing yet.
func NewApp(id string, key []byte, config Config) (*App, error) {
	private, err := ParseAppKey(key)
	if err != nil {
		return nil, fmt.Errorf("the GitHub App's key: %w", err)
	}
	config.Token = "the App's own"
	if _, err := New(config); err != nil {
		return nil, err
	}
	return &App{config: config, id: id, key: private}, nil
}

// Token returns a token that is good for ten minutes at least. Its error is
// ErrApp where another try would get the same answer.
func (a *App) Token(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Until(a.ends) > renewal {
		return a.token, nil
	}
	token, ends, err := a.mint(ctx)
	if err != nil {
		if time.Now().Before(a.ends) {
			return a.token, nil // it is not over yet
		}
		return "", err
	}
	a.token, a.ends = token, ends
	return token, nil
}

// mint asks for a new token.
func (a *App) mint(ctx context.Context) (string, time.Time, error) {
	claim, err := a.claim(time.Now())
	if err != nil {
		return "", time.Time{}, err
	}
	config := a.config
	config.Token = claim
	c, err := New(config)
	if err != nil {
		return "", time.Time{}, err
	}
	at, _, err := c.api.Apps.FindRepositoryInstallation(ctx, c.owner, c.name)
	if err != nil {
		return "", time.Time{}, noToken(c, err, fmt.Sprintf("is it installed on %s/%s?", c.owner, c.name))
	}
	made, _, err := c.api.Apps.CreateInstallationToken(ctx, at.GetID(), &github.InstallationTokenOptions{
		Repositories: []string{c.name},
		Permissions:  a.permissions(),
	})
	if err != nil {
		return "", time.Time{}, noToken(c, err, "has it the permission "+a.wanted()+"?")
	}
	if made.GetToken() == "" || !made.GetExpiresAt().After(time.Now()) {
		return "", time.Time{}, errors.New("asking for a token of the GitHub App: the answer holds none that is good now")
	}
	return made.GetToken(), made.GetExpiresAt().Time, nil
}

// permissions are what the tokens are good for, and no more.
func (a *App) permissions() *github.InstallationPermissions {
	write := github.String("write")
	switch a.Purpose {
	case Statuses:
		return &github.InstallationPermissions{Statuses: write}
	case Deployments:
		return &github.InstallationPermissions{Deployments: write}
	case Pulls: // merging one writes contents
		return &github.InstallationPermissions{Contents: write, PullRequests: write}
	}
	return &github.InstallationPermissions{Contents: write}
}

func (a *App) wanted() string {
	switch a.Purpose {
	case Statuses:
		return maySetStatus
	case Deployments:
		return mayDeploy
	case Pulls:
		return MayPropose
	}
	return "contents: write"
}

// claim says who the App is, for a few minutes. GitHub allows ten; the clocks
// need not agree
// (https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app).
func (a *App) claim(now time.Time) (string, error) {
	claims := jwt.RegisteredClaims{
		Issuer:    a.id,
		IssuedAt:  jwt.NewNumericDate(now.Add(-time.Minute)),
		ExpiresAt: jwt.NewNumericDate(now.Add(5 * time.Minute)),
	}
	text, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(a.key)
	if err != nil {
		return "", fmt.Errorf("signing as the GitHub App: %w", err)
	}
	return text, nil
}

// noToken explains why there is none.
func noToken(c *Client, err error, hint string) error {
	const doing = "asking for a token of the GitHub App"
	switch code := StatusOf(err); {
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%s: %w: GitHub answered 401 %s: do app-id and app-private-key belong together?", doing, ErrApp, http.StatusText(code))
	case code >= 400 && code < 500:
		return fmt.Errorf("%s: %w: GitHub answered %d %s: %s", doing, ErrApp, code, http.StatusText(code), hint)
	}
	return fmt.Errorf("%s: %w", doing, c.Explain(err, mayComment))
}
