package manifest

import "testing"

// TestHiddenBeforeHosts has addresses whose host must be seen, and such as have a password before it.
func TestHiddenBeforeHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{ // by HideSecrets, and by HideForms
		"https://evil.example:443/@prometheus.example.com":   {"", ""},
		"https://evil.example:/@prometheus.example.com":      {"", ""},
		"https://evil.example:443?@prometheus.example.com":   {"", ""},
		"https://[::1]:443/@prometheus.example.com":          {"", ""},
		"https://[::1]/a:b@prometheus.example.com":           {"", ""},
		"https://evil.example/a:b@prometheus.example.com":    {"", ""},
		"https://user:pa55@prometheus.example.com":           {"https://<hidden>@prometheus.example.com", "https://<hidden>@prometheus.example.com"},
		"https://user:443@prometheus.example.com":            {"https://<hidden>@prometheus.example.com", "https://<hidden>@prometheus.example.com"},
		"https://user:pa/55@prometheus.example.com":          {"https://<hidden>@prometheus.example.com", ""}, // no client takes it for one
		"leaked: -----BEGIN X----- ; a run may override it":  {"leaked: <hidden>", ""},
		"leaked: -----BEGIN X----- -----END X----- ; see it": {"leaked: <hidden> ; see it", "leaked: <hidden> ; see it"},
	} {
		for i, hide := range []func(string) string{HideSecrets, HideForms} {
			expected := want[i]
			if expected == "" {
				expected = text
			}
			if got := hide(text); got != expected {
				t.Errorf("%d: %s, want %s", i, got, expected)
			}
		}
	}
}
