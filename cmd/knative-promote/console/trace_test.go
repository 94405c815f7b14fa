package console

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/acme/knative-promote/cmd/knative-promote/console/consoletest"
)

type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(request *http.Request) (*http.Response, error) { return a(request) }

// TestTrace has a request whose address and error hold what nobody may see.
func TestTrace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		debug, message, want string
		err                  error
	}{
		{"0", "", `^$`, nil},
		{"1", "", `^debug: Git: GET https://git\.example/a: 404 Not Found in \S+\n$`, nil},
		{"1", strings.Repeat("x", 197) + "s3cret", `^debug: Git: GET https://git\.example/a: 404 x{197}\*\*\* in \S+\n$`, nil},
		{"1", "", `^debug: Git: GET https://git\.example/a: no answer in \S+: refused \*\*\*\n$`, errors.New("refused s3cret")},
	} {
		var printed bytes.Buffer
		c := New(consoletest.Environment("RUNNER_DEBUG="+test.debug), &printed, &printed)
		c.Hide("s3cret")
		next := answers(func(*http.Request) (*http.Response, error) {
			answer := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody}
			answer.Header.Set("grpc-message", test.message)
			return answer, test.err
		})
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://user:other@git.example/a?token=third", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Trace("Git")(next).RoundTrip(request)
		if answer == nil || err != test.err || !regexp.MustCompile(test.want).MatchString(printed.String()) {
			t.Errorf("debug %s: answer %v, error %v, printed %q, want %s", test.debug, answer, err, printed.String(), test.want)
		}
	}
}
