package console

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/internal/fake/consoletest"
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

// TestExchanged has an exchange whose error holds what nobody may see.
func TestExchanged(t *testing.T) {
	t.Parallel()
	var printed bytes.Buffer
	c := New(consoletest.Environment("RUNNER_DEBUG=1"), &printed, &printed)
	c.Hide("s3cret")
	told := c.Exchanged("Git", "ssh://git@git.example/infra")
	told("git-upload-pack", 12*time.Millisecond, nil)
	told("git-receive-pack", 1234567*time.Nanosecond, errors.New("refused\ns3cret"))
	want := "debug: Git: git-upload-pack ssh://git@git.example/infra: done in 12ms\n" +
		"debug: Git: git-receive-pack ssh://git@git.example/infra: refused *** in 1.2ms\n"
	if printed.String() != want {
		t.Errorf("printed %q, want %q", printed.String(), want)
	}
}
