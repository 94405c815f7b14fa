package repourl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/repourl"
)

func TestSame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		same bool
	}{
		{"https://github.com/acme/infra", "https://github.com/acme/infra.git", true},
		{"https://github.com/acme/infra", "https://GitHub.com/Acme/Infra/", true},
		{"https://github.com/acme/infra", "git@github.com:acme/infra.git", true},
		{"https://github.com/acme/infra", "ssh://git@github.com/acme/infra", true},
		{"https://github.com/acme/infra", "ssh://git@github.com:22/acme/infra", true},
		{"https://github.com/acme/infra", "github.com:acme/infra", true},
		{"https://github.com/acme/infra", "https://x-access-token:t@github.com/acme/infra.git", true},
		{"https://github.com/acme/infra", "https://github.com:443/acme/infra", true},
		{"https://github.com/acme/infra", "http://github.com/acme/infra", false},
		{"https://github.com/acme/infra", "https://github.com:8443/acme/infra", false},
		{"https://github.com/acme/infra", "https://github.com/acme/infra2", false},
		{"https://github.com/acme/infra", "https://github.com/acme", false},
		{"https://github.com/acme/infra", "https://gitlab.com/acme/infra", false},
		{"https://git.example.test/infra", "ssh://git@git.example.test:2222/infra.git", true},
		{"ssh://git@git.example.test:2222/infra", "ssh://git@git.example.test/infra", false},
		{"git@git.example.test:infra", "ssh://git@git.example.test/infra.git", true},
		{"http://127.0.0.1:3000/infra.git", "http://127.0.0.1:3000/infra", true},
		{"http://127.0.0.1:3000/infra.git", "http://127.0.0.1:3001/infra", false},
		{"git@git.example.test:/infra", "ssh://git@git.example.test/infra", true},
		{"/srv/git/infra.git", "/srv/git/infra", true},
		{"https://github.com/acme/group/../infra", "https://github.com/acme/infra", true},
		{"", "", false},
		{"https://github.com/acme/infra", "", false},
	}
	for _, test := range tests {
		if got := repourl.Same(test.a, test.b); got != test.same {
			t.Errorf("Same(%q, %q) = %v", test.a, test.b, got)
		}
		if got := repourl.Same(test.b, test.a); got != test.same {
			t.Errorf("Same(%q, %q) = %v", test.b, test.a, got)
		}
	}
}

func TestCommitURL(t *testing.T) {
	t.Parallel()
	for repository, want := range map[string]string{
		"https://github.com/acme/infra.git":             "https://github.com/acme/infra/commit/",
		"https://github.example.com/acme/infra/":        "https://github.example.com/acme/infra/commit/",
		"git@github.com:acme/infra.git":                 "https://github.com/acme/infra/commit/",
		"ssh://git@github.com/acme/infra.git":           "https://github.com/acme/infra/commit/",
		"ssh://git@git.example.com:2222/acme/infra.git": "https://git.example.com/acme/infra/commit/",
		"ssh://git.example.com/acme/infra.git":          "https://git.example.com/acme/infra/commit/",
		"http://127.0.0.1:8080/acme/infra.git":          "",
		"/srv/git/infra.git":                            "",
		"file:///srv/git/infra.git":                     "",
	} {
		if got := repourl.Read(repository).CommitURL(); got != want {
			t.Errorf("CommitURL(%q) = %q, want %q", repository, got, want)
		}
	}
}

// TestParse has what is taken, and what is not with the reason. Every gap
// between the two is one that a credential or an option could slip through.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]repourl.Address{
		"https://h/acme/infra.git":    {Scheme: "https", Host: "h", Path: "/acme/infra.git"},
		"HTTP://127.0.0.1:3000/infra": {Scheme: "http", Host: "127.0.0.1", Port: "3000", Path: "/infra"},
		"https://[::1]:3000/infra":    {Scheme: "https", Host: "::1", Port: "3000", Path: "/infra"},
		"ssh://git@h:2222/infra":      {Scheme: "ssh", Host: "h", Port: "2222", Path: "/infra"},
		"git@h:acme/infra.git":        {Scheme: "ssh", Host: "h", Path: "acme/infra.git"},
		"git@h:/srv/infra.git":        {Scheme: "ssh", Host: "h", Path: "/srv/infra.git"},
		"file:///srv/infra.git":       {Scheme: "file", Path: "/srv/infra.git"},
		"/srv/git@h:x/infra.git":      {Path: "/srv/git@h:x/infra.git"},
		"../infra":                    {Path: "../infra"},
	} {
		got, err := repourl.Parse(text)
		if err != nil || got.Scheme != want.Scheme || got.Host != want.Host || got.Port != want.Port || got.Path != want.Path {
			t.Errorf("%q: got %+v, error %v", text, got, err)
		}
		if !strings.EqualFold(got.String(), text) {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	for text, want := range map[string]repourl.Fault{
		"":                              repourl.BadScheme,
		"acme/infra":                    repourl.BadScheme,
		".infra":                        repourl.BadScheme,
		"h:infra":                       repourl.BadScheme,
		"git@h:2222:infra":              repourl.BadScheme, // go-git takes the number for a port
		"robot:hunter2@h:infra":         repourl.BadScheme,
		"--upload-pack=touch":           repourl.BadScheme,
		"git://h/infra":                 repourl.BadScheme,
		"ext::sh":                       repourl.BadScheme,
		"/srv/in fra":                   repourl.Unreadable,
		"https://h/in\nfra":             repourl.Unreadable,
		"https://robot:hunter2%zz@h/in": repourl.Unreadable,
		"https://hunter2@h/infra":       repourl.Credentials,
		"https://hunter2@":              repourl.Credentials,
		"ssh://git:hunter2@h/infra":     repourl.Credentials,
		"file://hunter2@/infra":         repourl.Credentials,
		"https:///infra":                repourl.BadHost,
		"file://h/infra":                repourl.BadHost,
		"https://h":                     repourl.BadPath,
		"https://h/":                    repourl.BadPath,
		"git@h:-oProxyCommand":          repourl.BadPath,
		"https://h/infra?token=hunter2": repourl.Extra,
		"https://h/infra#main":          repourl.Extra,
	} {
		_, err := repourl.Parse(text)
		bad, is := errors.AsType[*repourl.Error](err)
		if !is || bad.Fault != want || strings.Contains(bad.Error(), "hunter2") {
			t.Errorf("%q: error %v, want fault %d", text, err, want)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://h/infra":                     "https://h/infra",
		"https://h/a b":                       "https://h/a b",
		"https://robot:hunter2@h/infra":       "https://h/infra",
		"https://robot:hun/ter2@h/infra":      "https://h/infra",
		"https://robot:hun?t#er@2@h/infra":    "https://h/infra",
		"https://robot:hunter2%zz@h/infra":    "https://h/infra",
		"https://h/infra?access_token=hunter": "https://h/infra",
		"https://h/infra#hunter2":             "https://h/infra",
		"ssh://git@h/infra":                   "ssh://h/infra",
		"git@h:acme/infra":                    "git@h:acme/infra",
		"robot:hunter2@h:acme/infra":          "h:acme/infra",
		"https:/robot:hunter2@h/infra":        "h/infra",
		"/srv/git@h/infra":                    "/srv/git@h/infra",
		"":                                    "",
	} {
		if got := repourl.Shown(text); got != want {
			t.Errorf("Shown(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://github.com/acme/infra.git": "acme/infra",
		"https://github.com/acme/infra/":    "acme/infra",
		"git@github.com:acme/infra":         "acme/infra",
		"https://h/group/acme/infra":        "acme/infra",
		"https://github.com/infra":          "infra", // and not github.com/infra
		"https://github.com":                "",
	} {
		if got := repourl.Read(text).Name(); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"acme/infra": true, "acme/in.fra_-1": true, "infra": false, "a/b/c": false, "-a/b": false, "./infra": false, "a/b c": false} {
		if got := repourl.IsName(text); got != want {
			t.Errorf("IsName(%q) = %v", text, got)
		}
	}
	for _, server := range []string{"https://git.example.com:8443", "https://git.example.com:8443/"} {
		if got, want := repourl.OnServer(server, "acme/infra", false), "https://git.example.com:8443/acme/infra.git"; got != want {
			t.Errorf("over https %s, want %s", got, want)
		}
		if got, want := repourl.OnServer(server, "acme/infra", true), "ssh://git@git.example.com/acme/infra.git"; got != want {
			t.Errorf("over ssh %s, want %s", got, want)
		}
	}
}

// FuzzParse: what is taken is taken again as it is written.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"https://h/acme/infra.git", "git@h:acme/infra", "ssh://git@[::1]:22/x", "/srv/x", "file:///x", "HTTPS://a:b@h/?#"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := repourl.Parse(text)
		if err != nil {
			return
		}
		again, err := repourl.Parse(a.String())
		if err != nil || again.String() != a.String() {
			t.Errorf("%q becomes %+v, and that becomes %+v, error %v", text, a, again, err)
		}
	})
}
