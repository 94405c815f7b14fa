package check

import (
	"strings"
	"testing"
)

func TestJQPath(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		".spec.traffic":              "spec traffic",
		" .spec.traffic[]?.percent ": "spec traffic * percent",
		`.spec["traffic"]`:           "spec traffic",
		`."spec"."template"`:         "spec template",
		`.["spec"].traffic[0]`:       "spec traffic 0",
		`.metadata.annotations["serving.knative.dev/creator"]`: "metadata annotations serving.knative.dev/creator",
		".spec.template.spec.containers[].image":               "spec template spec containers * image",
		".spec?.traffic?":                                      "spec traffic",
		".":                                                    "",
		"":                                                     "",
		"..":                                                   "",
		".spec | .traffic":                                     "",
		".spec.traffic[1:]":                                    "",
		".spec.traffic[] | select(.tag)":                       "",
		".spec.traffic, .spec.template":                        "",
		`.spec["a\"b"]`:                                        "",
		"spec.traffic":                                         "",
	} {
		path, ok := jqPath(expression)
		if got := strings.Join(path, " "); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", expression, got, ok, want)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ignored, path string
		want          bool
	}{
		{"spec traffic", "spec traffic", true},
		{"spec", "spec traffic", true},
		{"spec traffic 0 percent", "spec traffic", true},
		{"spec template spec containers * image", "spec template spec containers 0 image", true},
		{"spec template spec containers 1 image", "spec template spec containers * image", true},
		{"spec template spec containers * env", "spec template spec containers * image", false},
		{"spec template", "spec traffic", false},
		{"status traffic", "spec traffic", false},
	} {
		i := ignoring{path: strings.Fields(test.ignored)}
		if got := i.covers(strings.Fields(test.path)...); got != test.want {
			t.Errorf("%s covers %s: got %v", test.ignored, test.path, got)
		}
	}
	if (ignoring{unclear: true}).covers("spec") {
		t.Error("what is unclear covers nothing for certain")
	}
}
