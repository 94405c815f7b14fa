package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
)

// Added is a file, a symbolic link or a submodule that a change of the infra repository brings or
// alters.
type Added struct {
	Path   string
	Mode   fs.FileMode // a submodule is irregular
	Target string      // of a link, as it is written
	Bytes  int64       // of a file; 0: they are not known
}

// checkoutRules are about what Argo CD needs to check the infra repository out, all of it: it does
// that before it renders any overlay.
func checkoutRules() []Rule {
	return []Rule{rule("checkout-fails", findUncheckable), rule("submodule", findSubmodules), rule(CheckoutConverts, findConverted)}
}

// The files of the root by which git fetches from elsewhere too.
const (
	submoduleFile = ".gitmodules"
	lfsFile       = ".lfsconfig"
)

// findSubmodules looks at what a change brings, else at what the tip has.
func findSubmodules(f Facts) []found {
	var all []string
	for _, a := range f.Added {
		if a.Mode == fs.ModeIrregular || a.Path == submoduleFile || a.Path == lfsFile {
			all = append(all, shown(a.Path))
		}
	}
	if len(f.Added) == 0 && f.Setup.App != nil && f.Tree != nil {
		for _, file := range []string{submoduleFile, lfsFile} {
			if _, err := fs.Stat(f.Tree, file); err == nil {
				all = append(all, file)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	proposed := len(f.Added) > 0
	return []found{{severity: errorIf(proposed), values: values{"Paths": some(all), "Hosts": some(hosts(f.Tree)), "Proposed": proposed}}}
}

var address = regexp.MustCompile(`(?i)url\s*=\s*"?([^"\s]+)`)

// hosts are those of the addresses in these files, for people. One that is no URL, such as
// git@host:path, is left out: what of it is a password, nobody can tell.
func hosts(tree fs.FS) (all []string) {
	for _, file := range []string{submoduleFile, lfsFile} {
		if tree == nil {
			break
		}
		content, _ := fs.ReadFile(tree, file)
		for _, match := range address.FindAllSubmatch(content, -1) {
			if at, err := url.Parse(string(match[1])); err == nil && at.Host != "" {
				all = append(all, oneline.Brief(at.Host))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// shown is a path for people. Of a long one it has the first folders.
func shown(name string) string {
	const most = 200
	short := name
	for i := strings.LastIndexByte(short, '/'); len(short) > most && i > 0; i = strings.LastIndexByte(short, '/') {
		short = short[:i]
	}
	if len(short) < len(name) {
		short += "/…"
	}
	return oneline.Brief(short)
}

// some are the first of the entries.
func some(all []string) []string {
	const most = 10
	return andMore(slices.Clone(all[:min(len(all), most)]), len(all)-most)
}

func findUncheckable(f Facts) []found {
	all := tooMuch(f.Added)
	for _, a := range f.Added {
		if why := uncheckable(a); why != "" {
			all = append(all, shown(a.Path)+": "+why)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []found{{values: values{"Paths": some(all)}}}
}

// mostAdded is how many bytes a change may bring to what is checked out, also where they are one file under many names, which
// Git sends once: Argo CD writes each of them, on a disk that all repositories share and within 90 seconds.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/exec/exec.go#L33-L46
const mostAdded = 1 << 30

// tooMuch says of what comes to more than that how much it is, and names the largest files of it.
func tooMuch(added []Added) []string {
	var total int64
	for _, a := range added {
		total += a.Bytes
	}
	if total <= mostAdded {
		return nil
	}
	const most = 5
	largest := slices.SortedStableFunc(slices.Values(added), func(a, b Added) int { return cmp.Compare(b.Bytes, a.Bytes) })
	var names []string
	for _, a := range largest[:min(len(largest), most)] {
		names = append(names, fmt.Sprintf("%s with %d", shown(a.Path), a.Bytes))
	}
	return []string{fmt.Sprintf("all files that the change adds or alters have %d bytes when they are checked out; expected at most %d: %s",
		total, mostAdded, strings.Join(andMore(names, len(added)-most), ", "))}
}

// What the file systems take that Argo CD checks out to. A path stands below the folder of the
// repository there, which has some 60 bytes.
const (
	longestName   = 255
	longestPath   = 4000
	longestTarget = 4095
)

// Names that git checks out nowhere, as they mean its own folder on one of the systems that it
// knows, and such names of symbolic links.
// https://github.com/git/git/blob/v2.39.5/read-cache.c#L963-L1110
var (
	gitName  = regexp.MustCompile(`(?i)(?:^|\\)(?:\.git|git~1)[. ]*(?:[:\\]|$)`)
	linkName = regexp.MustCompile(`(?i)(?:^|\\)(?:\.gitmodules|gitmod~[1-4]|gi?7?e?b?a?~[1-9][0-9]*)[. ]*(?:[:\\]|$)`)
)

// uncheckable is why Argo CD cannot check something out; empty: it can.
func uncheckable(a Added) string {
	for name := range strings.SplitSeq(a.Path, "/") {
		switch {
		case name == "." || name == ".." || gitName.MatchString(name) || a.Mode&fs.ModeSymlink != 0 && linkName.MatchString(name):
			return fmt.Sprintf("git checks out nothing of the name %q", oneline.Brief(name))
		case len(name) > longestName:
			return fmt.Sprintf("a name in it has %d bytes, and file systems take %d", len(name), longestName)
		}
	}
	switch {
	case len(a.Path) > longestPath:
		return fmt.Sprintf("the path has %d bytes, and at most %d can be checked out", len(a.Path), longestPath)
	case a.Mode&fs.ModeSymlink != 0:
		return badLink(a)
	}
	return ""
}

// badLink is why a symbolic link is refused. Argo CD goes by its text alone, part by part, and
// looks at no other link on the way. Git takes the text up to a zero byte.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/app/path/path.go#L52-L98
func badLink(a Added) string {
	target, _, _ := strings.Cut(a.Target, "\x00")
	switch {
	case target == "" || len(target) > longestTarget:
		return fmt.Sprintf("a symbolic link to a target of %d bytes, which no file system takes", len(target))
	case path.IsAbs(target):
		return fmt.Sprintf("a symbolic link out of the repository, to %q", oneline.Brief(target))
	}
	at := path.Dir(a.Path)
	for part := range strings.SplitSeq(target, "/") {
		if at = path.Join(at, part); at == ".." {
			return fmt.Sprintf("a symbolic link out of the repository, to %q", oneline.Brief(target))
		}
	}
	return ""
}
