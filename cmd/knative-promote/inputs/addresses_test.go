package inputs

import "testing"

func TestCommitURL(t *testing.T) {
	t.Parallel()
	for repository, want := range map[string]string{
		"https://github.com/acme/infra.git":      "https://github.com/acme/infra/commit/",
		"https://github.example.com/acme/infra/": "https://github.example.com/acme/infra/commit/",
		"git@github.com:acme/infra.git":          "https://github.com/acme/infra/commit/",
		"ssh://git@github.com/acme/infra.git":    "https://github.com/acme/infra/commit/",
		"http://127.0.0.1:8080/acme/infra.git":   "",
		"/srv/git/infra.git":                     "",
		"file:///srv/git/infra.git":              "",
	} {
		if got := CommitURL(repository); got != want {
			t.Errorf("CommitURL(%q) = %q, want %q", repository, got, want)
		}
	}
}
