package github

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// secondaryPause is the least time to wait for a limit that names none:
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
const secondaryPause = time.Minute

// retry says whether a request is worth sending again, why, and after which pause.
// An empty reason: it is not.
func retry(request *http.Request, answer *http.Response, body []byte, err error, try int) (pause time.Duration, why string) {
	if request.Context().Err() != nil {
		return 0, ""
	}
	if answer != nil {
		if pause, limited := limit(answer, body, try, time.Now()); limited {
			return pause, fmt.Sprintf("rate limited (%d)", answer.StatusCode)
		}
	}
	// Whether a failed POST was carried out is not known. Everything else can
	// be done twice.
	again := request.Method != http.MethodPost && try < 3
	switch {
	case !again:
		return 0, ""
	case err != nil:
		return time.Duration(try) * time.Second, err.Error()
	case answer.StatusCode >= 500 && answer.StatusCode != http.StatusNotImplemented:
		return time.Duration(try) * time.Second, answer.Status
	}
	return 0, ""
}

// limit recognises a rate limit in every shape that GitHub gives it, 403 or
// 429, and returns how long it asks to wait. It also keeps the limit's numbers
// from go-github.
func limit(answer *http.Response, body []byte, try int, now time.Time) (time.Duration, bool) {
	remaining, reset := answer.Header.Get("X-RateLimit-Remaining"), answer.Header.Get("X-RateLimit-Reset")
	answer.Header.Del("X-RateLimit-Remaining")
	answer.Header.Del("X-RateLimit-Reset")
	if answer.StatusCode != http.StatusForbidden && answer.StatusCode != http.StatusTooManyRequests {
		return 0, false
	}
	if pause, ok := retryAfter(answer.Header.Get("Retry-After"), now); ok {
		return max(pause, time.Second), true
	}
	if seconds, err := strconv.ParseInt(reset, 10, 64); err == nil && remaining == "0" {
		return max(time.Unix(seconds, 0).Sub(now), time.Second), true
	}
	text := bytes.ToLower(body)
	if answer.StatusCode == http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "" ||
		bytes.Contains(text, []byte("rate limit")) || bytes.Contains(text, []byte("rate-limit")) || bytes.Contains(text, []byte("abuse")) {
		return secondaryPause << (try - 1), true
	}
	return 0, false
}

// retryAfter reads seconds or an HTTP date.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(header)
	return date.Sub(now), err == nil
}
