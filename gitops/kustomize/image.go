package kustomize

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"
	"sigs.k8s.io/kustomize/api/pkg/util"
)

// keep as a new name, tag or digest means: the one that the kustomization has.
const keep = "*"

// Image is an entry of a kustomization's images, and also an instruction to set one: there NewName, NewTag and Digest
// can be "*", which keeps the entry's value.
type Image struct {
	Name    string // the image in the manifests, without tag and digest
	NewName string // what replaces the name, or empty
	NewTag  string // what replaces the tag, or empty
	Digest  string // what replaces the digest (sha256:…), or empty

	// TagSuffix is appended to the tag that the manifests have. It can be read and restored; setting an image drops it.
	TagSuffix string
}

// String is the image in the syntax of ParseImage.
func (i Image) String() string {
	s := i.Name
	if i.NewName != "" {
		s += "=" + i.NewName
	}
	if i.NewTag != "" {
		s += ":" + i.NewTag
	}
	if i.Digest != "" {
		s += "@" + i.Digest
	}
	return s
}

// Shows tells whether an image of a render can be what the entry made of it.
func (i Image) Shows(image string) bool {
	name, tag, digest := SplitImage(image)
	return name == cmp.Or(i.NewName, i.Name) && (i.NewTag == "" || tag == i.NewTag) && (i.Digest == "" || digest == i.Digest)
}

// Matches tells whether kustomize takes the entry to be about an image of the manifests: to it a name is a regular
// expression. An entry that is none is about any.
// https://github.com/kubernetes-sigs/kustomize/blob/api/v0.20.1/api/internal/image/image.go
func (i Image) Matches(image string) bool {
	pattern, err := i.pattern()
	return err != nil || pattern.MatchString(image)
}

// pattern is what kustomize looks for.
func (i Image) pattern() (*regexp.Regexp, error) {
	return regexp.Compile("^" + i.Name + "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$")
}

// SplitImage takes an image reference apart, as kustomize does: name, name:tag, name@digest or name:tag@digest.
func SplitImage(image string) (name, tag, digest string) { return util.SplitImageName(image) }

const imageSyntax = "expected name:tag, name@digest, name:tag@digest or name=newname with any of these; * keeps what the kustomization has"

// ParseImage reads the argument of `kustomize edit set image`: name:tag, name@digest, name:tag@digest,
// name=newname[:tag][@digest], with * for a new name, tag or digest that stays as it is. Unlike kustomize, which
// accepts line breaks in a tag, it takes only valid image references (https://pkg.go.dev/github.com/distribution/reference).
func ParseImage(arg string) (Image, error) {
	key, value, renamed := strings.Cut(arg, "=")
	if !renamed {
		key, value = "", arg
	}
	name, tag, digest := SplitImage(value)
	image := Image{Name: name, NewTag: tag, Digest: digest}
	if renamed {
		image.Name, image.NewName = key, name
	}
	if err := checkSyntax(arg, value, image, renamed); err != nil {
		return Image{}, fmt.Errorf("image %q: %w", arg, err)
	}
	if err := image.check(); err != nil {
		return Image{}, fmt.Errorf("image %q: %w", arg, err)
	}
	return image, nil
}

func checkSyntax(arg, value string, image Image, renamed bool) error {
	switch {
	case strings.ContainsFunc(arg, notPrintable):
		return errors.New("spaces, control and non-ASCII characters are not part of an image reference; " + imageSyntax)
	case renamed && image.NewName == "", image.Name == "":
		return errors.New("a name is missing; " + imageSyntax)
	case !renamed && image.NewTag == "" && image.Digest == "":
		return errors.New("neither a tag nor a digest; " + imageSyntax)
	case !renamed && image.Name == keep:
		return errors.New("* needs the name of the image before it, as in app=*:v2; " + imageSyntax)
	case len(value) != len(join(value, image, renamed)):
		return errors.New("an empty tag or digest; " + imageSyntax)
	case !renamed:
		return checkName(image.Name)
	}
	return nil
}

// join is what the parts of value make together again; an empty tag or digest is missing in it.
func join(value string, image Image, renamed bool) string {
	if renamed {
		return strings.TrimPrefix(Image{NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest}.String(), "=")
	}
	return Image{Name: image.Name, NewTag: image.NewTag, Digest: image.Digest}.String()
}

func notPrintable(r rune) bool { return r <= ' ' || r > '~' }

var (
	tagPattern    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	// keyPattern is wider than a reference: manifests carry placeholders such as APP_IMAGE.
	keyPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/:-]{0,254}$`)
)

// check returns an error unless every part of i can stand in an image reference.
func (i Image) check() error {
	if !keyPattern.MatchString(i.Name) {
		return fmt.Errorf("name %q: expected the image of the manifests, letters, digits and . _ / : -", i.Name)
	}
	if i.NewName != "" && i.NewName != keep {
		if err := checkName(i.NewName); err != nil {
			return err
		}
	}
	if i.NewTag != "" && i.NewTag != keep && !tagPattern.MatchString(i.NewTag) {
		return fmt.Errorf("tag %q: expected up to 128 letters, digits and . _ -, not starting with . or -", i.NewTag)
	}
	if i.Digest != "" && i.Digest != keep && !digestPattern.MatchString(i.Digest) {
		return fmt.Errorf("digest %q: expected sha256: and 64 hexadecimal digits in lower case", i.Digest)
	}
	return nil
}

func checkName(name string) error {
	_, err := reference.WithName(name)
	_, errLower := reference.WithName(strings.ToLower(name))
	switch {
	case err != nil && errLower == nil:
		return fmt.Errorf("name %q: expected a repository name in lower case", name)
	case errors.Is(err, reference.ErrNameTooLong):
		return fmt.Errorf("name %q: expected at most %d characters", name, reference.NameTotalLengthMax)
	case err != nil:
		return fmt.Errorf("name %q: expected [registry[:port]/]repository, such as ghcr.io/acme/app", name)
	}
	return nil
}
