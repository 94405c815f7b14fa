package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// gateSecrets are what the gates' servers are asked with, beside the headers for
// Prometheus: a token, and a password with all that is written in another way in
// an address, in JSON and in a quoted text.
var gateSecrets = map[string]string{
	"api/token":    "key-" + secretWord + "-58c1f0",
	"api/password": `p"` + secretWord + `/w+r d&=%<ü>é\x`,
}

// secretTemplate asks with the secrets in every place where one can be.
const secretTemplate = `
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: secrets}
spec:
  args:
    - {name: server}
    - name: token
      valueFrom: {secretKeyRef: {name: api, key: token}}
    - name: password
      valueFrom: {secretKeyRef: {name: api, key: password}}
  dryRun: [{metricName: .*}]
  metrics:
    - name: header
      consecutiveErrorLimit: 0
      provider:
        web:
          url: "{{args.server}}/{{args.token}}?key={{args.token}}"
          headers: [{key: Authorization, value: "Bearer {{args.token}}"}, {key: X-Password, value: "{{args.password}}"}]
    - name: result
      consecutiveErrorLimit: 0
      successCondition: result.echo == "nothing"
      provider:
        web:
          method: POST
          url: "{{args.server}}"
          jsonBody: {password: "{{args.password}}", token: "{{args.token}}"}
          jsonPath: "{$}"
    - name: oauth
      consecutiveErrorLimit: 0
      provider:
        web:
          url: "{{args.server}}/data"
          authentication: {oauth2: {tokenUrl: "{{args.server}}/token", clientId: "me", clientSecret: "{{args.password}}"}}
    - name: query
      consecutiveErrorLimit: 0
      successCondition: result[0] < 1
      provider:
        prometheus:
          address: "{{args.server}}"
          query: "up{key=\"{{args.token}}\", other='{{args.password}}'}"
          authentication: {basicAuth: {username: me, password: "{{args.password}}"}}
    - name: own
      consecutiveErrorLimit: 0
      successCondition: result[0] < 1
      provider: {prometheus: {query: up}}
`

// echoes are servers that do not do what they are asked for, and repeat all that
// they were asked with.
var echoes = map[string]http.HandlerFunc{
	"401": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, echoOf(r))
	},
	"401 as Prometheus says it": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"status": "error", "errorType": "unauthorized", "error": %s}`, jsonText(echoOf(r)))
	},
	"malformed": func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "vector", "result": [{"value": [1, %s]}]}}`, jsonText(echoOf(r)))
	},
	"in the result": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"echo": %s}`, jsonText(echoOf(r)))
	},
	"redirect": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", elsewhere().URL+"/?"+url.Values{"echo": {echoOf(r)}}.Encode())
		w.WriteHeader(http.StatusFound)
	},
	"closed": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
}

// echoOf repeats what is secret in a request, each in another guise, so often that
// a secret stands wherever the text may be cut.
func echoOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	secret := slices.Concat(form["query"], form["client_secret"], r.URL.Query()["key"], r.Header["X-Password"])
	var fields map[string]string
	if json.Unmarshal(body, &fields) == nil {
		secret = append(secret, slices.Sorted(maps.Values(fields))...)
	}
	if _, password, is := r.BasicAuth(); is {
		secret = append(secret, password)
	}
	if _, token, is := strings.Cut(r.Header.Get("Authorization"), " "); is {
		secret = append(secret, token)
	}
	guises := slices.Sorted(maps.Keys(secretGuises))
	echo := "you asked with"
	for i, text := range secret {
		disguise := secretGuises[guises[(len(r.URL.String())+i)%len(guises)]]
		echo += strings.Repeat(" "+disguise(text), 40)
	}
	return echo
}

// TestGateSecrets asks, with secrets in every place of every gate that can have
// one, servers that repeat them where they fail. Nobody can read the least bit of
// a secret afterwards, with debug logging on too. Without -more, one server in three is
// asked.
func TestGateSecrets(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() {
		if n := elsewhere().requests.Load(); n > 0 {
			t.Errorf("%d requests, with what they carry, followed a redirect to another host", n)
		}
	})
	for n, name := range slices.Sorted(maps.Keys(echoes)) {
		if n%oneOf(3, 1) != 0 {
			continue
		}
		answer := echoes[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(answer)
			defer server.Close()
			w := worldOf(t)
			w.mu.Lock()
			err := w.commit("Ask with secrets", map[string]string{"analysis/secrets.yaml": secretTemplate})
			w.mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			lines := ""
			for name, secret := range gateSecrets {
				lines += name + "=" + secret + "\n"
			}
			code, out := w.program(t, []string{
				"RUNNER_DEBUG=1", "INPUT_ANALYSIS-SECRETS=" + lines, "INPUT_PROMETHEUS-HEADERS=Authorization: Bearer " + prometheusToken,
			}, []string{
				"promote", "--image", "ghcr.io/acme/product-import:v2.0.0", "--steps", "50@1s,100", "--prometheus", server.URL, "--wait-for-data", "1s",
				"--slo", "success>=99% from=kourier", "--analysis", "analysis/secrets.yaml at=candidate", "--analysis-args", "server=" + server.URL,
			})
			for _, want := range []string{"result is ", "oauth is Error", "query is Error", "own is Error", "slo: failed: could not be measured"} {
				if !strings.Contains(out, want) {
					t.Errorf("nothing says %q", want)
				}
			}
			if code != "8" {
				t.Errorf("it ended with %s", code)
			}
			if err := w.hidesParts(prometheusToken, gateSecrets["api/token"], gateSecrets["api/password"]); err != nil || t.Failed() {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// hidesParts tells whether a part of a secret is in anything that anybody can
// read: eight bytes of it as it is, or of one of its guises.
func (w *world) hidesParts(secrets ...string) error {
	log, err := gittest.Git(w.bare, nil, "log", "--all", "-p", "--format=raw")
	broken, parts := []error{err}, secretParts(secrets)
	look := func(place, text string) {
		for _, part := range parts {
			if at := strings.Index(text, part); at >= 0 {
				broken = append(broken, fmt.Errorf("%s: %q is a part of a secret", place, text[max(0, at-60):min(len(text), at+60)]))
				return
			}
		}
	}
	look("the commits", log)
	for _, p := range w.runs {
		look("the log", withoutMasks(p.out.String()+p.err.String()))
	}
	for _, c := range w.hub.Comments(7) {
		look("the comment", strings.Join(c.Bodies, "\n"))
	}
	look("the forge", w.shownOnForge())
	return errors.Join(append(broken, w.eachFile(look))...)
}

// secretParts are all parts of eight bytes of secrets, and of what they are written
// as.
func secretParts(secrets []string) []string {
	var parts []string
	for _, secret := range secrets {
		forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(jsonText(secret), `"`), strings.Trim(fmt.Sprintf("%q", secret), `"`)}
		for before := range 3 {
			whole := base64.StdEncoding.EncodeToString([]byte("???"[:before] + secret))
			forms = append(forms, whole[4:len(whole)-4])
		}
		for _, form := range forms {
			for i := range len(form) - 7 {
				parts = append(parts, form[i:i+8])
			}
		}
	}
	slices.Sort(parts)
	return slices.DeleteFunc(slices.Compact(parts), func(part string) bool { return !strings.ContainsAny(part, "0123456789") }) // words alone
}
