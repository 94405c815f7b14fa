package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Root opens the folder below which a file or folder is written that an input names, and
// is the name in it: the working folder where the name is in that, else the nearest one
// that there is. No symbolic link below leads out, as one of a checked-out pull request
// would.
func Root(name string) (root *os.Root, within string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, "", err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(here, name)
	}
	folder := here
	if within, err := filepath.Rel(here, name); err != nil || !filepath.IsLocal(within) {
		folder = nearest(filepath.Dir(name))
	}
	if root, err = os.OpenRoot(folder); err != nil {
		return nil, "", err
	}
	within, err = filepath.Rel(folder, name)
	return root, within, err
}

// nearest is the first folder that there is, of this one and those above.
func nearest(folder string) string {
	for folder != filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			break
		}
		folder = filepath.Dir(folder)
	}
	return folder
}

// Escaped is the error of writing below a Root, and says what to do where a symbolic link
// leads out of it, for which package os has no error of its own.
func Escaped(err error) error {
	if err != nil && strings.Contains(err.Error(), "escapes from parent") {
		return fmt.Errorf("a symbolic link leads out of the working folder: expected a name that leads through none: %w", err)
	}
	return err
}
