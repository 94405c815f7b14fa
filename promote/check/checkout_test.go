package check

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	argopath "github.com/argoproj/argo-cd/v2/util/app/path"
)

// TestLinksAsArgoCDTakesThem asks Argo CD's own code which symbolic links it refuses.
func TestLinksAsArgoCDTakesThem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "docs/a", "docs/deep/a"} {
		for _, target := range []string{
			"b", ".", "..", "../..", "../../..", "../../../..", "./..", "../", "..//..", "b/../..", "b/../../..", "b/..", "../b", "../../b", "../../../b",
			"/", "/b", "//b", "...", "..b", "../..b", "b/../../docs", "docs/../../docs/a", "../docs/deep/../../..", "b/./../.././b",
		} {
			root := t.TempDir()
			at := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, at); err != nil {
				t.Fatal(err)
			}
			refused := argopath.CheckOutOfBoundsSymlinks(root) != nil
			if why := uncheckable(Added{Path: name, Mode: fs.ModeSymlink | 0o777, Target: target}); (why != "") != refused {
				t.Errorf("%s to %q: %q; Argo CD refuses it: %t", name, target, why, refused)
			}
		}
	}
}
