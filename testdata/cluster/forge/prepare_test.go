package forge_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acme/knative-promote/testdata/cluster/forge"
)

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	if err := os.Mkdir(filepath.Join(source, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, empty := t.TempDir(), t.TempDir()
	for want, o := range map[string]forge.Options{
		`preparing Gitea: Addr "": expected host:port to listen on`:                                           {Static: source, Dir: dir},
		`preparing Gitea: Addr "127.0.0.1": expected host:port to listen on`:                                  {Static: source, Dir: dir, Addr: "127.0.0.1"},
		`preparing Gitea: Dir "run" and Static "` + source + `": expected absolute paths`:                     {Static: source, Dir: "run", Addr: "127.0.0.1:1"},
		`preparing Gitea: Static "` + empty + `": expected the folder of Gitea's source: it has no templates`: {Static: empty, Dir: dir, Addr: "127.0.0.1:1"},
	} {
		if err := forge.Prepare(t.Context(), o); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
