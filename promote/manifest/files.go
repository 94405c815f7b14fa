package manifest

import (
	"fmt"
	"strings"
)

// A File is one object of a rendered manifest as YAML, with its secrets hidden.
type File struct {
	Name    string // such as serving.knative.dev_Service_shop_checkout.yaml: one element of a path
	Content string
}

// Files are the objects of a rendered manifest in its order, those of Lists
// among them. The names follow from the objects' own, and are unique also where
// case does not count.
func Files(manifest []byte) []File {
	secrets := newVault(manifest)
	used := map[string]int{} // how many numbers behind a name are tried
	var files []File
	for _, d := range documents(manifest, secrets) {
		own := fileName(d.name)
		name := own
		for used[strings.ToLower(name)] > 0 {
			used[strings.ToLower(own)]++
			name = fmt.Sprintf("%s_%d", own, used[strings.ToLower(own)])
		}
		used[strings.ToLower(name)] = 1
		files = append(files, File{Name: name + ".yaml", Content: secrets.shown(d.text, nil)})
	}
	return files
}

// fileName is an object's name with nothing but letters, digits, dots and dashes
// between underscores, at most as long as all file systems take.
func fileName(name string) string {
	const most = 200
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name, ".-")
	return name[:min(len(name), most)]
}
