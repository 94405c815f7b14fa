package inputs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/pipeline"
)

// parseLabel accepts what Knative accepts as the name of a Service or a tag.
func parseLabel(text string) (string, error) {
	if len(validation.IsDNS1035Label(text)) > 0 {
		return "", errors.New("expected a DNS label: lower-case letters, digits and dashes, a letter first, 63 characters at most")
	}
	return text, nil
}

// parseSubdomain accepts the names of most Kubernetes objects.
func parseSubdomain(text string) (string, error) {
	if len(validation.IsDNS1123Subdomain(text)) > 0 {
		return "", errors.New("expected a Kubernetes name: lower-case letters, digits, dashes and dots")
	}
	return text, nil
}

func parseName(text string) (string, error) {
	if _, err := parseLine(text); err != nil || strings.ContainsAny(text, "<>") {
		return "", errors.New("expected a name of one line without < and >")
	}
	return text, nil
}

func parseEmail(text string) (string, error) {
	address, err := mail.ParseAddress(text)
	if err != nil || address.Address != text {
		return "", errors.New("expected an email address alone")
	}
	return text, nil
}

// parseRules accepts names of check's rules.
func parseRules(text string) ([]string, error) {
	var known, names []string
	for _, rule := range check.Rules() {
		known = append(known, rule.ID)
	}
	for name := range pipeline.Words(text) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no rule %q%s", name, didYouMean(name, known))
		}
		names = append(names, name)
	}
	return names, nil
}

// parsePatterns accepts names of files below the repository's root, with stars
// and the like as path.Match has them.
func parsePatterns(text string) ([]string, error) {
	var patterns []string
	for pattern := range pipeline.Words(text) {
		pattern = strings.TrimPrefix(pattern, "./")
		if _, err := path.Match(pattern, ""); err != nil || !fs.ValidPath(pattern) || strings.Contains(pattern, "**") {
			return nil, fmt.Errorf("%q: expected a file or a pattern such as *.yaml relative to the repository's root, with slashes and without .. or **", pattern)
		}
		patterns = append(patterns, pattern)
	}
	return patterns, nil
}

// parseObjects accepts objects by kind and name, with the namespace between
// them or without.
func parseObjects(text string) ([]string, error) {
	var names []string
	for name := range pipeline.Words(text) {
		if !regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(/[a-z0-9][a-z0-9.-]*){1,2}$`).MatchString(name) {
			return nil, fmt.Errorf("%q: expected Kind/name or Kind/namespace/name", name)
		}
		names = append(names, name)
	}
	return names, nil
}

// parseTo accepts a revision's name or a commit's hash, whole or short.
func parseTo(text string) (string, error) {
	if regexp.MustCompile(`^[0-9a-f]{7,40}$`).MatchString(text) {
		return text, nil
	}
	if _, err := parseLabel(text); err != nil {
		return "", errors.New("expected the name of a revision, or 7 to 40 hexadecimal digits of a commit")
	}
	return text, nil
}

// parseBranch accepts the short names that git check-ref-format accepts.
func parseBranch(text string) (string, error) {
	bad := strings.ContainsAny(text, " ~^:?*[\\\x7f") || strings.Contains(text, "..") || strings.Contains(text, "@{") ||
		strings.HasPrefix(text, "-") || strings.HasPrefix(text, "refs/") || strings.HasSuffix(text, ".") || text == "@"
	for part := range strings.SplitSeq(text, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	for _, r := range text {
		bad = bad || r < ' '
	}
	if bad {
		return "", errors.New("expected the short name of a branch")
	}
	return text, nil
}

// parseFolder accepts a folder inside the repository. A leading ./ and a
// trailing slash are dropped, as people write them. The root is a dot.
func parseFolder(text string) (string, error) {
	if !strings.Contains(text, "..") && path.Clean("/"+text) == "/" {
		return ".", nil
	}
	folder := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	if !fs.ValidPath(folder) || strings.ContainsAny(folder, "\\\r\n\x00") {
		return "", errors.New("expected a folder relative to the repository's root, with slashes and no .. in it")
	}
	return folder, nil
}

// parseFolders accepts several, with commas or one per line, and each once.
func parseFolders(text string) ([]string, error) {
	var folders []string
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		folder, err := parseFolder(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(folders, folder) {
			return nil, fmt.Errorf("expected each folder once, and %s is there twice", folder)
		}
		folders = append(folders, folder)
	}
	if len(folders) == 0 {
		return nil, errors.New("expected folders, with commas or one per line")
	}
	return folders, nil
}

// parseFile accepts a file. A leading ./ is dropped, as people write it.
func parseFile(text string) (string, error) {
	file := strings.TrimPrefix(text, "./")
	if _, err := parsePath(file); err != nil || !fs.ValidPath(file) || file == "." || strings.Contains(file, `\`) {
		return "", errors.New("expected a file relative to the repository's root, with slashes and no .. in it")
	}
	return file, nil
}

// parseApp keeps the project that another input has set.
func parseApp(current *argo.App) func(string) (argo.App, error) {
	return func(text string) (argo.App, error) {
		app := argo.App{Name: text, Project: current.Project}
		if namespace, name, found := strings.Cut(text, "/"); found {
			app.Namespace, app.Name = namespace, name
			if len(validation.IsDNS1123Label(namespace)) > 0 {
				return argo.App{}, errors.New("expected name or namespace/name of an Application")
			}
		}
		if len(validation.IsDNS1123Subdomain(app.Name)) > 0 {
			return argo.App{}, errors.New("expected name or namespace/name of an Application")
		}
		return app, nil
	}
}

// parseChecks accepts the names of commit statuses, which may have blanks.
func parseChecks(text string) ([]string, error) {
	names := pipeline.Names(text)
	for _, name := range names {
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return nil, errors.New("expected printable names of commit statuses, with commas or one per line")
		}
	}
	return names, nil
}
