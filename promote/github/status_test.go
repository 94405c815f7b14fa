package github_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
)

// TestStates reads all pages, by the name that the forge has for a state: Gitea calls
// it the status.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"state", "status"} {
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page := r.URL.Query().Get("page")
			if page == "1" {
				w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=2>; rel="next"`, r.Host, r.URL.Path))
			}
			fmt.Fprintf(w, `{"state": "pending", "statuses": [{"context": "on page %s", %q: "failure"}]}`, page, field)
		}), "")
		got, err := client.States(t.Context(), "abc")
		if want := map[string]string{"on page 1": "failure", "on page 2": "failure"}; err != nil || !maps.Equal(got, want) {
			t.Errorf("with %s: %v, error %v, want %v", field, got, err, want)
		}
	}
}
