package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/analysis/template"
	"github.com/acme/knative-promote/promote/analysis/web"
)

// TestAsk holds what is made of answers.
func TestAsk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		status     int
		ask        template.Web
		statusOnly bool
		want       any
		err        string
	}{
		{name: "all of it", body: `{"ok": true, "n": 1.5}`, want: map[string]any{"ok": true, "n": 1.5}},
		{name: "a path", body: `{"data": {"ok": true}}`, ask: template.Web{JSONPath: "{$.data.ok}"}, want: true},
		{name: "the first hit", body: `{"items": [{"v": 1}, {"v": 2}]}`, ask: template.Web{JSONPath: "{.items[*].v}"}, want: 1.0},
		{name: "null", body: `{"v": null}`, ask: template.Web{JSONPath: "{.v}"}},
		{name: "no hit", body: `{"v": []}`, ask: template.Web{JSONPath: "{.v[*]}"}, err: "looking for the jsonPath {.v[*]} in the answer: it finds nothing"},
		{name: "no such key", body: `{}`, ask: template.Web{JSONPath: "{.v.w}"}, err: "looking for the jsonPath {.v.w} in the answer: v is not found"},
		{name: "a descent", body: `{"a": [{"v": 1}]}`, ask: template.Web{JSONPath: "{..v}"}, want: 1.0},
		{name: "a deep answer", body: strings.Repeat("[", 65) + strings.Repeat("]", 65), ask: template.Web{JSONPath: "{..x}"}, err: "looking for the jsonPath {..x} in the answer: it nests values 65 deep, and .. goes through at most 64: name the way to the value"},
		{name: "several descents", body: "[[]]", ask: template.Web{JSONPath: "{..[*]..[*]}"}, err: "looking for the jsonPath {..[*]..[*]} in the answer: has .. 2 times, expected at most 1"},
		{name: "a place in null", body: "null", ask: template.Web{JSONPath: "{[0]}"}, err: "looking for the jsonPath {[0]} in the answer: it is null"},
		{name: "a text", body: "I am OK", want: "I am OK"},
		{name: "nothing", body: "", want: ""},
		{name: "a page instead of JSON", body: "<html>Sign in", ask: template.Web{JSONPath: "{.v}"}, err: "the answer is no JSON, in which the jsonPath {.v} could be looked for"},
		{name: "the status alone", body: "<html>", status: 204, statusOnly: true, want: "204 No Content"},
		{name: "a status and a path", body: `{"v": 3}`, ask: template.Web{JSONPath: "{.v}"}, statusOnly: true, want: 3.0},
		{name: "unavailable", body: "token=abc", status: 503, err: "asking HOST: answered 503 Service Unavailable, expected a 2xx status"},
		{name: "not found", status: 404, statusOnly: true, err: "asking HOST: answered 404 Not Found, expected a 2xx status"},
		{name: "too long", body: strings.Repeat("x", 300<<10), err: "the answer of HOST is longer than 262144 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(max(test.status, 200))
				_, _ = io.WriteString(w, test.body)
			}))
			defer server.Close()
			test.ask.URL = server.URL + "/?token=secret"
			got, err := web.Client{}.Ask(t.Context(), test.ask, test.statusOnly)
			host := strings.TrimPrefix(server.URL, "http://")
			if diff := cmp.Diff([]any{test.want, test.err}, []any{got, strings.ReplaceAll(text(err), host, "HOST")}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestRequest holds what is sent.
func TestRequest(t *testing.T) {
	t.Parallel()
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s %s host=%s agent=%s type=%s x=%s %s", r.Method, r.URL, r.Host, r.UserAgent(), r.Header.Get("Content-Type"), r.Header.Get("X"), body)
	}))
	defer server.Close()
	for _, test := range []struct {
		ask  template.Web
		want string
	}{
		{template.Web{URL: "/a?b=c"}, "GET /a?b=c host=HOST agent=knative-promote type= x= "},
		{
			template.Web{URL: "/", Method: "POST", Body: "a=b", Headers: []template.Header{{Key: "Content-Type", Value: "text/plain"}, {Key: "x", Value: "y"}}},
			"POST / host=HOST agent=knative-promote type=text/plain x=y a=b",
		},
		{
			template.Web{URL: "/", Method: "PUT", JSONBody: json.RawMessage(`{"a":1}`), Headers: []template.Header{{Key: "host", Value: "shop.example.com"}, {Key: "User-Agent", Value: "mine"}}},
			`PUT / host=shop.example.com agent=mine type=application/json x= {"a":1}`,
		},
	} {
		test.ask.URL = server.URL + test.ask.URL
		if _, err := (web.Client{}).Ask(t.Context(), test.ask, false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, strings.ReplaceAll(got, "host="+strings.TrimPrefix(server.URL, "http://"), "host=HOST")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestRedirects holds that headers and tokens go to nobody else.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host was asked for %s, with %v", r.URL, r.Header)
	}))
	defer other.Close()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.Handle("/away", http.RedirectHandler(other.URL+"/x?token=secret", http.StatusTemporaryRedirect))
	mux.Handle("/near", http.RedirectHandler("/ok", http.StatusFound))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("Authorization")) })
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token": "abc", "token_type": "Bearer"}`)
	})
	mux.HandleFunc("/refuse", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such client", http.StatusUnauthorized) })
	oauth := func(path string) template.Authentication {
		return template.Authentication{OAuth2: template.OAuth2{TokenURL: server.URL + path, ClientID: "me", ClientSecret: "hidden"}}
	}
	token := []template.Header{{Key: "Authorization", Value: "Bearer mine"}}
	for _, test := range []struct {
		name string
		ask  template.Web
		want string
	}{
		{"away", template.Web{URL: "/away", Headers: token}, "asking HOST: it redirects to OTHER, expected the address that answers"},
		{"away with a body", template.Web{URL: "/away", Method: "POST", Body: "secret", Headers: token}, "asking HOST: it redirects to OTHER, expected the address that answers"},
		{"on the same host", template.Web{URL: "/near", Headers: token}, "Bearer mine"},
		{"round and round", template.Web{URL: "/round"}, "asking HOST: it redirects more than 5 times"},
		{"a token", template.Web{URL: "/ok", Authentication: oauth("/token")}, "Bearer abc"},
		{"away with a token", template.Web{URL: "/away", Authentication: oauth("/token")}, "asking HOST: it redirects to OTHER, expected the address that answers"},
		{"away for a token", template.Web{URL: "/ok", Authentication: oauth("/away")}, "asking HOST: it redirects to OTHER, expected the address that answers"},
		{"no token", template.Web{URL: "/ok", Authentication: oauth("/refuse")}, "asking HOST: oauth2: cannot fetch token: 401 Unauthorized\nResponse: no such client\n"},
	} {
		test.ask.URL = server.URL + test.ask.URL
		got, err := web.Client{}.Ask(t.Context(), test.ask, false)
		said := text(err)
		if err == nil {
			said = fmt.Sprint(got)
		}
		said = strings.ReplaceAll(strings.ReplaceAll(said, strings.TrimPrefix(server.URL, "http://"), "HOST"), other.URL, "OTHER")
		if diff := cmp.Diff(test.want, said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestSlow holds that a request ends with its context, also one whose answer
// never ends, and that an untrusted certificate is an error.
func TestSlow(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/slow" {
			close(begun)
			<-r.Context().Done()
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := (web.Client{}).Ask(ctx, template.Web{URL: server.URL + "/slow", Insecure: true}, false); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v, expected the end of the context", err)
	}
	if _, err := (web.Client{}).Ask(t.Context(), template.Web{URL: server.URL}, false); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, expected an untrusted certificate", err)
	}
}

// TestConnect takes another way to the metric's host, TLS and all, and the usual
// one to the host that gives the token.
func TestConnect(t *testing.T) {
	t.Parallel()
	var asked []string
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Host+" "+r.TLS.ServerName+" "+r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `"good"`)
	}))
	defer service.Close()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, "token")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token": "fetched", "token_type": "Bearer"}`)
	}))
	defer tokens.Close()
	got, err := web.Client{}.Ask(t.Context(), template.Web{
		URL: "https://candidate-shop.example.test/healthz", Connect: service.Listener.Addr().String(), Insecure: true,
		Authentication: template.Authentication{OAuth2: template.OAuth2{TokenURL: tokens.URL, ClientID: "me", ClientSecret: "x"}},
	}, false)
	want := []string{"token", "candidate-shop.example.test candidate-shop.example.test Bearer fetched"}
	if diff := cmp.Diff(want, asked); err != nil || got != "good" || diff != "" {
		t.Errorf("got %v %v (-want +got):\n%s", got, err, diff)
	}
}
