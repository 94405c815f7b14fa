package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRoot writes where an input may name a file: no link of the working folder leads out.
func TestRoot(t *testing.T) {
	world := t.TempDir()
	here, beside := filepath.Join(world, "here"), filepath.Join(world, "beside")
	for _, folder := range []string{here, beside} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": "../beside/precious", "folder": "../beside", "in": "inside"} {
		if err := os.Symlink(to, filepath.Join(here, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	const refused = "a symbolic link leads out of the working folder: expected a name that leads through none"
	for name, want := range map[string]string{
		"findings": "here/findings", "./findings": "here/findings", "../here/findings": "here/findings", filepath.Join(here, "a/b"): "here/a/b",
		"in": "here/inside", "../beside/findings": "beside/findings", filepath.Join(beside, "new/er"): "beside/new/er",
		"out": refused, "folder/findings": refused, filepath.Join(here, "out"): refused, filepath.Join(here, "folder/findings"): refused,
	} {
		err := write(name)
		if want == refused {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
			continue
		}
		if _, there := os.Stat(filepath.Join(world, want)); err != nil || there != nil {
			t.Errorf("%s: %v, %v, want %s", name, err, there, want)
		}
	}
	if left, err := os.ReadDir(beside); err != nil || len(left) != 2 {
		t.Errorf("beside the working folder are %v, %v", left, err)
	}
}

func write(name string) error {
	root, within, err := Root(name)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(within), 0o755); err != nil {
		return Escaped(err)
	}
	return Escaped(root.WriteFile(within, []byte("x"), 0o644))
}
