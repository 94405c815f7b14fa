package prometheus

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answering serves the body with status 200.
func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

// status serves a status with a body.
func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func dial(t *testing.T, handler http.Handler, config Config) (*Client, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config.Address = strings.Replace(config.Address, "HOST", server.Listener.Addr().String(), 1)
	if config.Address == "" {
		config.Address = server.URL
	}
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, server.Listener.Addr().String()
}

func TestQuery(t *testing.T) {
	t.Parallel()
	pod := map[string]string{"pod": "a"}
	for name, test := range map[string]struct {
		body string
		want Answer
	}{
		"scalar":     {`{"status":"success","data":{"resultType":"scalar","result":[1,"2.5"]}}`, Answer{Scalar: true, Samples: []Sample{{Value: 2.5}}}},
		"vector":     {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a"},"value":[1,"3"]},{"metric":{},"value":[1,"0"]}]}}`, Answer{Samples: []Sample{{pod, 3}, {map[string]string{}, 0}}}},
		"no series":  {`{"status":"success","data":{"resultType":"vector","result":[]}}`, Answer{}},
		"matrix":     {`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pod":"a"},"values":[[1,"3"],[2,"4"]]}]}}`, Answer{Samples: []Sample{{pod, 3}, {pod, 4}}}},
		"infinite":   {`{"status":"success","data":{"resultType":"scalar","result":[1,"+Inf"]}}`, Answer{Scalar: true, Samples: []Sample{{Value: math.Inf(1)}}}},
		"warnings":   {`{"status":"success","warnings":["no store matched"],"data":{"resultType":"vector","result":[]}}`, Answer{Warnings: []string{"no store matched"}}},
		"more to it": {`{"status":"success","infos":["x"],"data":{"resultType":"vector","result":[],"stats":{}}}`, Answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := dial(t, answering(test.body), Config{})
			got, err := client.Query(t.Context(), "up", time.Unix(1, 0))
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("got %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestNaN(t *testing.T) {
	t.Parallel()
	client, _ := dial(t, answering(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"NaN"]}]}}`), Config{})
	got, err := client.Query(t.Context(), "0/0", time.Unix(1, 0))
	if err != nil || len(got.Samples) != 1 || !math.IsNaN(got.Samples[0].Value) {
		t.Errorf("got %+v, %v, expected one sample that is NaN", got, err)
	}
}

// TestNoAnswer: whatever comes in place of a whole answer is an error, on one
// line, with the address and without a secret.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	const none = "the answer is none of Prometheus' API: "
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"wrong query":    {status(400, `{"status":"error","errorType":"bad_data","error":"parse error:\n unexpected )"}`), "answered 400 Bad Request: bad_data: parse error: unexpected )"},
		"query timeout":  {status(503, `{"status":"error","errorType":"timeout","error":"query timed out"}`), "answered 503 Service Unavailable: timeout: query timed out"},
		"error with 200": {answering(`{"status":"error","errorType":"execution","error":"many-to-many matching not allowed"}`), "execution: many-to-many matching not allowed"},
		"echoed secret":  {status(400, `{"error":"not known: my-secret-token, of pass%41word and tenant-4711"}`), "answered 400 Bad Request: not known: ***, of *** and ***"},
		"unauthorized":   {status(401, `<h1>my-secret-token</h1>`), "answered 401 Unauthorized: is the header with the credentials given and right?"},
		"not found":      {status(404, `nothing here`), "answered 404 Not Found: is this the address that /api/v1/query is below?"},
		"server error":   {status(502, `oops`), "answered 502 Bad Gateway"},
		"GET refused":    {status(405, ``), "answered 405 Method Not Allowed"},
		"no content":     {status(204, ``), "answered 204 No Content"},
		"login page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<title>Sign in</title>"))
		}, "answered with a web page instead of JSON: a login page or a wrong address?"},
		"endless":       {endless, "the answer has more than 4 MiB: expected fewer series"},
		"cut off":       {cutOff, "reading the answer: unexpected EOF"},
		"no JSON":       {answering("surprise"), none + "invalid character 's' looking for beginning of value"},
		"nothing":       {answering(""), none + "unexpected end of JSON input"},
		"empty object":  {answering("{}"), none + `expected status success, got ""`},
		"no data":       {answering(`{"status":"success"}`), none + `expected numbers, got the type ""`},
		"null":          {answering(`{"status":"success","data":{"resultType":"vector","result":null}}`), none + "the vector has no list of series"},
		"no value":      {answering(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{}}]}}`), none + `expected a value with its time, got ""`},
		"no values":     {answering(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{}}]}}`), none + "a series has no values"},
		"half a value":  {answering(`{"status":"success","data":{"resultType":"scalar","result":[1]}}`), none + `expected a value with its time, got "[1]"`},
		"bare number":   {answering(`{"status":"success","data":{"resultType":"scalar","result":[1,2]}}`), none + `expected a value with its time, got "[1,2]"`},
		"no number":     {answering(`{"status":"success","data":{"resultType":"scalar","result":[1,"many"]}}`), none + `expected a number, got "many"`},
		"too large":     {answering(`{"status":"success","data":{"resultType":"scalar","result":[1,"1e999"]}}`), none + `expected a number, got "1e999"`},
		"text":          {answering(`{"status":"success","data":{"resultType":"string","result":[1,"up"]}}`), none + `expected numbers, got the type "string"`},
		"histogram":     {answering(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{"count":"3"}]}]}}`), none + "expected numbers, got a native histogram"},
		"and histogram": {answering(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[],"histograms":[]}]}}`), none + "expected numbers, got a native histogram"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, host := dial(t, test.handler, Config{
				Address: "http://me:pass%2541word@HOST/prom/?token=tenant-4711",
				Headers: http.Header{"X-Token": {"my-secret-token"}},
			})
			_, err := client.Query(t.Context(), "up", time.Unix(1, 0))
			if want := "asking Prometheus at http://" + host + "/prom: " + test.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// endless answers until nobody reads.
func endless(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := w.Write([]byte(strings.Repeat(" ", 1<<16))); err != nil {
			return
		}
	}
}

// cutOff promises more than it sends.
func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"status":`))
}

// TestRedirect: the headers are not sent to another host.
func TestRedirect(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(other.Close)
	client, host := dial(t, http.RedirectHandler(other.URL+"/login?next=secret", http.StatusTemporaryRedirect), Config{})
	_, err := client.Query(t.Context(), "up", time.Unix(1, 0))
	if want := "asking Prometheus at http://" + host + ": answered 307 Temporary Redirect: it redirects to " + other.URL + ": a login page or a wrong address?"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	client, err := New(Config{Address: server.URL + "/?token=secret"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Query(t.Context(), "up", time.Unix(1, 0))
	if want := "asking Prometheus at " + server.URL + ": dial tcp"; err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want it to begin with %s", err, want)
	}
}

// TestSilent: a call ends when its time is over, and when the run does.
func TestSilent(t *testing.T) {
	t.Parallel()
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server hears of the end only when it has read the request
		<-r.Context().Done()
	})
	client, host := dial(t, silent, Config{Timeout: 10 * time.Millisecond})
	_, err := client.Query(t.Context(), "up", time.Unix(1, 0))
	if want := "asking Prometheus at http://" + host + ": no answer within 10ms"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	cancelled := errors.New("the run was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cancelled)
	client, _ = dial(t, silent, Config{})
	if _, err := client.Query(ctx, "up", time.Unix(1, 0)); !errors.Is(err, cancelled) {
		t.Errorf("got %v, want %v", err, cancelled)
	}
}

// TestRequest: what is sent, by POST, and by GET where POST is forbidden.
func TestRequest(t *testing.T) {
	t.Parallel()
	var got []string
	client, host := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		_ = r.ParseForm()
		got = append(got, strings.Join([]string{r.Method, r.Host, r.URL.Path, r.Form.Encode(), r.Header.Get("X-Scope-Orgid"), user, password}, " "))
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answering(`{"status":"success","data":{"resultType":"vector","result":[]}}`)(w, r)
	}), Config{Address: "http://me:secret@HOST/prom/?tenant=shop", Headers: http.Header{"X-Scope-Orgid": {"1"}}})
	if _, err := client.Query(t.Context(), `up{job="a"}`, time.UnixMilli(1500)); err != nil {
		t.Error(err)
	}
	if _, err := client.Query(t.Context(), "time()", time.Time{}); err != nil {
		t.Error(err)
	}
	if _, err := client.QueryRange(t.Context(), "up", Range{time.Unix(1, 0), time.Unix(61, 0), 500 * time.Millisecond}); err != nil {
		t.Error(err)
	}
	once := host + " /prom/api/v1/query query=up%7Bjob%3D%22a%22%7D&tenant=shop&time=1.500 1 me secret"
	now := host + " /prom/api/v1/query query=time%28%29&tenant=shop 1 me secret"
	over := host + " /prom/api/v1/query_range end=61.000&query=up&start=1.000&step=0.5&tenant=shop 1 me secret"
	if diff := cmp.Diff([]string{"POST " + once, "GET " + once, "POST " + now, "GET " + now, "POST " + over, "GET " + over}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	const address = "address of Prometheus: expected an http or https URL with a host, such as https://prometheus.example.com"
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{}, address},
		{Config{Address: "prometheus:9090"}, address},
		{Config{Address: "ftp://prometheus"}, address},
		{Config{Address: "https://"}, address},
		{Config{Address: "https://me:sec%ret@prometheus"}, address},
		{Config{Address: "https://prometheus#query"}, address},
		{Config{Address: "https://prometheus", CA: []byte("no certificate")}, "CA of Prometheus: expected one or more PEM certificates (-----BEGIN CERTIFICATE-----)"},
	} {
		if _, err := New(test.config); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.config.Address, err, test.want)
		}
	}
}

// TestCertificate: a private CA is trusted where it is given, and only there.
func TestCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(answering(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the client that does not trust it is expected
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{}, "certificate"}, {Config{CA: ca}, ""}, {Config{Insecure: true}, ""},
	} {
		test.config.Address = server.URL
		client, err := New(test.config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Query(t.Context(), "up", time.Unix(1, 0))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// FuzzDecode: what is read is what was sent, and nothing ends the program.
func FuzzDecode(f *testing.F) {
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1,"NaN"]}]}}`)
	f.Add(`{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		answer, err := decode([]byte(body))
		if err != nil && (answer.Samples != nil || answer.Scalar) {
			t.Errorf("%q gives %v beside the error %v", body, answer, err)
		}
		if err == nil && strings.Count(body, `"`) < len(answer.Samples) {
			t.Errorf("%q gives %d samples", body, len(answer.Samples))
		}
	})
}
