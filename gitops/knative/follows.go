package knative

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// following are the fields of the Service that text of what is made up has come to, and that should not follow it: whoever names a tag
// would decide of the pod's rights, or whose image runs beside.
func (o others) following(s *State) []string {
	was, is := s.service.withTemplateMetadata(), o.state.service.withTemplateMetadata()
	texts := strings.NewReplacer(generatedNames(s, o.state)...)
	mark := madeUp(madeUpDigits, 15)
	marked := strings.NewReplacer(o.marks(mark, others{})...)
	return slices.DeleteFunc(differences("", map[string]any(was), map[string]any(is)), func(field string) bool {
		called := field[strings.LastIndex(field, "/")+1:]
		if owner, isValue := strings.CutSuffix(field, "/value"); isValue {
			name, _ := is.value(owner + "/name")
			called = fmt.Sprint(name)
		}
		value, _ := was.value(field)
		other, _ := is.value(field)
		then, now := fmt.Sprint(value), texts.Replace(fmt.Sprint(other))
		return then == now || below(field, routedFields) || mayFollow(field, called, then, now) ||
			ofVersion.MatchString(field) && eachCalled(strings.Split(flagOf(is, field)+marked.Replace(now), mark))
	})
}

// mayFollow tells whether a field of the Service may be as it is in two renders with different tags: it stands where tags do and is
// called so, and an image is still of the same name. An injector may run the image of an annotation.
func mayFollow(field, called, then, now string) bool {
	name, _, _ := kustomize.SplitImage(then)
	other, _, _ := kustomize.SplitImage(now)
	switch {
	case containerImage.MatchString(field):
		return name == other
	case !ofVersion.MatchString(field):
		return false
	case versionName.MatchString(called) && !strings.Contains(then+now, "/"):
		return true
	}
	return (versionName.MatchString(called) || imageName.MatchString(called)) && name == other
}

// eachCalled tells whether what follows each of these texts, but for the last, is called a version in front of it: --version=,
// or one of the attributes of OTEL_RESOURCE_ATTRIBUTES. A tag has no delimiter that could begin another.
func eachCalled(texts []string) bool {
	return !slices.ContainsFunc(texts[:len(texts)-1], func(text string) bool { return !versionBefore.MatchString(text) })
}

// flagOf is the argument before one, with =, where that is a flag which takes its value from the next.
func flagOf(o object, field string) string {
	args, at, _ := strings.Cut(field, "/args/")
	n, err := strconv.Atoi(at)
	if err != nil {
		return ""
	}
	flag, _ := o.value(fmt.Sprintf("%s/args/%d", args, n-1))
	if text := fmt.Sprint(flag); strings.HasPrefix(text, "-") && !strings.Contains(text, "=") {
		return text + "="
	}
	return ""
}

// restOfName is what may come behind a word at the end of a name: a BUILD_NUMBER is of a build, and neither is STAGE a tag nor
// RELEASE_HOST a release.
const restOfName = `(?i:[^a-z/~]*(id|name|number|no|hash|short|date|time)?)[^a-zA-Z/~]*$`

const versionWord = `(?i:versions?|tag|commit|sha|digest|release|build|revision|chart)`

// What may follow a tag: by where it stands, and by what it is called.
var (
	containerImage = regexp.MustCompile(`^/spec/template/spec/(containers|initContainers)/\d+/image$`)
	ofVersion      = regexp.MustCompile(`^/(spec/template/)?metadata/(labels|annotations)/[^/]+$|^/spec/template/spec/(containers|initContainers)/\d+/(env/\d+/value|args/\d+)$`)
	versionName    = regexp.MustCompile(versionWord + restOfName)
	versionBefore  = regexp.MustCompile(`(^|[\s,;])[a-zA-Z0-9_.-]*` + versionWord + `[=:]v?$`)
	imageName      = regexp.MustCompile(`(?i:image)` + restOfName)
)
