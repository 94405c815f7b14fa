package guard

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// meant says why a file that is not there is meant to be: somebody has put a symbolic
// link there, or for its folder, that leads to nothing by now, or has given the file the
// other ending of YAML. What was to be shut must not be open for that. It is nil where
// nobody has meant a file.
func meant(tree fs.FS, name string) error {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := fs.Lstat(tree, at)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := fs.Stat(tree, at); err != nil {
			return fmt.Errorf("%s is a symbolic link that leads to nothing", at)
		}
	}
	if stem, is := strings.CutSuffix(name, ".yaml"); is {
		if _, err := fs.Lstat(tree, stem+".yml"); err == nil {
			return fmt.Errorf("there is %s.yml in its place, which is not read", stem)
		}
	}
	return nil
}

// isFolder tells whether there is a folder of a file's name, or a link to one.
func isFolder(tree fs.FS, name string) bool {
	info, err := fs.Stat(tree, name)
	return err == nil && info.IsDir()
}
