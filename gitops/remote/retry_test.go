package remote

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// TestRetryAfter waits for as long as a busy server says, also where it has not
// let us in before; beyond our patience it waits as for one that says nothing.
// The clock is not the machine's.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		says   string
		want   time.Duration // zero: an ordinary pause
	}{
		"seconds":         {http.StatusTooManyRequests, "30", 30 * time.Second},
		"503":             {http.StatusServiceUnavailable, "30", 30 * time.Second},
		"a date":          {http.StatusTooManyRequests, "Sat, 01 Jan 2000 00:00:45 GMT", 45 * time.Second},
		"beyond patience": {http.StatusTooManyRequests, "3600", 0},
		"never":           {http.StatusTooManyRequests, "2147483647", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &Remote{patience: 2 * time.Minute}
				began := time.Now()
				again := r.Tries().Again(t.Context(), answered(t, test.status, test.says))
				if waited := time.Since(began); !again || test.want > 0 && waited != test.want || waited > max(test.want, longestRetry) {
					t.Errorf("again is %t after %s, want %s", again, waited, test.want)
				}
			})
		})
	}
}

// TestRetryAfterOfAPush is that for an error that was put into our words.
func TestRetryAfterOfAPush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &Remote{address: "https://h.example/infra", patience: 2 * time.Minute}
		tries := r.Tries()
		err := r.explain("pushing to", answered(t, http.StatusTooManyRequests, "50"), nil)
		if want := ": it asks to wait for 50s"; !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want one that ends in %s", err, want)
		}
		for _, want := range []time.Duration{50 * time.Second, 50 * time.Second, 0} {
			began := time.Now()
			again := tries.Again(t.Context(), err)
			if waited := time.Since(began); !again || want > 0 && waited != want || waited > max(want, longestRetry) {
				t.Errorf("again is %t after %s, want %s", again, waited, want)
			}
		}
	})
}

// TestRetryAfterThatCannotBeRead takes it for none.
func TestRetryAfterThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"", "soon", "-1", "0", "1e3", "99999999999999999999"} {
		if got := retryAfter(answered(t, http.StatusTooManyRequests, says)); got != 0 {
			t.Errorf("%q: %s", says, got)
		}
	}
	if got := retryAfter(answered(t, http.StatusForbidden, "30")); got != 0 {
		t.Errorf("403: %s", got)
	}
}

// answered is what go-git makes of an answer.
func answered(t *testing.T, status int, after string) error {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://h.example/infra", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {after}}, Request: req}
	return plumbing.NewUnexpectedError(&githttp.Err{Response: answer})
}
