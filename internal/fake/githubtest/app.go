package githubtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// App is a GitHub App of the server's. Its private key is AppKey.
type App struct {
	ID         string
	Repository string        // owner/name where it is installed
	Token      func() string // gives the next token
	Life       time.Duration // of a token
	Lacks      string        // a permission that it has not: contents, statuses or deployments
}

// AppKey is the private key of every App here, made once.
var AppKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// AppPEM is AppKey as GitHub gives it out.
func AppPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(AppKey())})
}

// installation is the number of the only one.
const installation = 99

// signed reports whether a request bears the App's claim, as GitHub wants it:
// good for ten minutes at most.
func (a *App) signed(r *http.Request) bool {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(bearer, &claims, func(*jwt.Token) (any, error) { return &AppKey().PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(a.ID), jwt.WithIssuedAt(), jwt.WithExpirationRequired())
	return err == nil && claims.IssuedAt != nil && claims.ExpiresAt.Sub(claims.IssuedAt.Time) <= 10*time.Minute
}

func (a *App) routes(mux *http.ServeMux) {
	guarded := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !a.signed(r) {
				Refuse(w, http.StatusUnauthorized, "A JSON web token could not be decoded")
				return
			}
			next(w, r)
		}
	}
	mux.HandleFunc("GET /repos/"+a.Repository+"/installation", guarded(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"id": installation})
	}))
	mux.HandleFunc(fmt.Sprintf("POST /app/installations/%d/access_tokens", installation), guarded(a.mint))
}

// may tells whether the App has rights, and asks for those of one purpose alone.
func (a *App) may(asked map[string]string) bool {
	purposes := []map[string]string{
		{"contents": "write"}, {"contents": "write", "pull_requests": "write"}, {"statuses": "write"}, {"deployments": "write"},
	}
	return asked[a.Lacks] == "" && slices.ContainsFunc(purposes, func(p map[string]string) bool { return maps.Equal(p, asked) })
}

func (a *App) mint(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Repositories []string          `json:"repositories"`
		Permissions  map[string]string `json:"permissions"`
	}
	_, name, _ := strings.Cut(a.Repository, "/")
	err := json.NewDecoder(r.Body).Decode(&asked)
	narrow := slices.Equal(asked.Repositories, []string{name}) && a.may(asked.Permissions)
	if err != nil || !narrow {
		Refuse(w, http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
		return
	}
	answer(w, http.StatusCreated, map[string]any{"token": a.Token(), "expires_at": time.Now().Add(a.Life).UTC().Format(time.RFC3339)})
}
