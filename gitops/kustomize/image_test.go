package kustomize_test

import (
	"strings"
	"testing"

	"github.com/distribution/reference"

	"github.com/acme/knative-promote/gitops/kustomize"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParseImage(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]kustomize.Image{
		"app:v1":                           {Name: "app", NewTag: "v1"},
		"app@" + digest:                    {Name: "app", Digest: digest},
		"app:v1@" + digest:                 {Name: "app", NewTag: "v1", Digest: digest},
		"ghcr.io/a/b:v1":                   {Name: "ghcr.io/a/b", NewTag: "v1"},
		"localhost:5000/a:v1":              {Name: "localhost:5000/a", NewTag: "v1"},
		"localhost:5000/a@" + digest:       {Name: "localhost:5000/a", Digest: digest},
		"app=ghcr.io/a/b:v1":               {Name: "app", NewName: "ghcr.io/a/b", NewTag: "v1"},
		"app=ghcr.io:443/a/b:v1@" + digest: {Name: "app", NewName: "ghcr.io:443/a/b", NewTag: "v1", Digest: digest},
		"app=ghcr.io/a/b":                  {Name: "app", NewName: "ghcr.io/a/b"},
		"app=*:v1":                         {Name: "app", NewName: "*", NewTag: "v1"},
		"app=*@" + digest:                  {Name: "app", NewName: "*", Digest: digest},
		"app=b:*@*":                        {Name: "app", NewName: "b", NewTag: "*", Digest: "*"},
		"app:*@" + digest:                  {Name: "app", NewTag: "*", Digest: digest},
		"APP_IMAGE=b:v1":                   {Name: "APP_IMAGE", NewName: "b", NewTag: "v1"},
		"app:" + strings.Repeat("a", 128):  {Name: "app", NewTag: strings.Repeat("a", 128)},
		"[::1]:5000/a:v1":                  {}, // refused below
	} {
		got, err := kustomize.ParseImage(arg)
		if want.Name == "" {
			if err == nil {
				t.Errorf("%s: accepted", arg)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", arg, got, err, want)
		}
		if err == nil && got.String() != arg {
			t.Errorf("%s is written as %s", arg, got)
		}
	}
}

func TestSplitImage(t *testing.T) {
	t.Parallel()
	for image, want := range map[string][3]string{
		"":                              {"", "", ""},
		"app":                           {"app", "", ""},
		"app:v1":                        {"app", "v1", ""},
		"app@" + digest:                 {"app", "", digest},
		"app:v1@" + digest:              {"app", "v1", digest},
		"localhost:5000/a":              {"localhost:5000/a", "", ""},
		"localhost:5000/a/b:v1":         {"localhost:5000/a/b", "v1", ""},
		"localhost:5000/a@" + digest:    {"localhost:5000/a", "", digest},
		"localhost:5000/a:v1@" + digest: {"localhost:5000/a", "v1", digest},
		"ghcr.io/a/b:v1.2.3-rc.1_amd64": {"ghcr.io/a/b", "v1.2.3-rc.1_amd64", ""},
	} {
		name, tag, digest := kustomize.SplitImage(image)
		if got := [3]string{name, tag, digest}; got != want {
			t.Errorf("%q is split into %q, want %q", image, got, want)
		}
	}
}

// TestMatches has the names that kustomize itself, which reads them as regular expressions, matches.
func TestMatches(t *testing.T) {
	t.Parallel()
	for name, images := range map[string]map[string]bool{
		"ghcr.io/acme/web": {"ghcr.io/acme/web": true, "ghcr.io/acme/web:v1": true, "ghcr.io/acme/web@" + digest: true, "ghcr.io/acme/web:v1@" + digest: true,
			"ghcr.io/acme/webs": false, "x.ghcr.io/acme/web": false},
		"ghcr.io/acme.web": {"ghcr.io/acme/web:v1": true, "ghcr.io/acme/xweb": false},
		".*/web":           {"ghcr.io/acme/web:v1": true, "ghcr.io/acme/worker:v1": false},
		"web:v[13]":        {"web:v1": true, "web:v2": false},
		"(":                {"web": true},
	} {
		for image, want := range images {
			if got := (kustomize.Image{Name: name}).Matches(image); got != want {
				t.Errorf("%s matches %s: got %t, want %t", name, image, got, want)
			}
		}
	}
}

func TestParseImageErrors(t *testing.T) {
	t.Parallel()
	const syntax = "expected name:tag, name@digest, name:tag@digest or name=newname with any of these; * keeps what the kustomization has"
	const notReference = "spaces, control and non-ASCII characters are not part of an image reference; " + syntax
	const notName = "expected [registry[:port]/]repository, such as ghcr.io/acme/app"
	const notTag = "expected up to 128 letters, digits and . _ -, not starting with . or -"
	const notDigest = "expected sha256: and 64 hexadecimal digits in lower case"
	for arg, want := range map[string]string{
		"":                              `image "": a name is missing; ` + syntax,
		"app":                           `image "app": neither a tag nor a digest; ` + syntax,
		"app=":                          `image "app=": a name is missing; ` + syntax,
		"=app:v1":                       `image "=app:v1": a name is missing; ` + syntax,
		":v1":                           `image ":v1": a name is missing; ` + syntax,
		"app=:v1":                       `image "app=:v1": a name is missing; ` + syntax,
		"*:v1":                          `image "*:v1": * needs the name of the image before it, as in app=*:v2; ` + syntax,
		"app:":                          `image "app:": neither a tag nor a digest; ` + syntax,
		"app=b:":                        `image "app=b:": an empty tag or digest; ` + syntax,
		"app:v1@":                       `image "app:v1@": an empty tag or digest; ` + syntax,
		"app:1.0\n    securityContext:": `image "app:1.0\n    securityContext:": ` + notReference,
		"app:v1 ":                       `image "app:v1 ": ` + notReference,
		"аpp:v1":                        `image "аpp:v1": ` + notReference,
		"app:v1\x00":                    `image "app:v1\x00": ` + notReference,
		"App:v1":                        `image "App:v1": name "App": expected a repository name in lower case`,
		"a=ghcr.io/Acme/b:v1":           `image "a=ghcr.io/Acme/b:v1": name "ghcr.io/Acme/b": expected a repository name in lower case`,
		"a=$(id):v1":                    `image "a=$(id):v1": name "$(id)": ` + notName,
		"a=`id`:v1":                     "image \"a=`id`:v1\": name \"`id`\": " + notName,
		"a=b;c:v1":                      `image "a=b;c:v1": name "b;c": ` + notName,
		"a=docker://b:v1":               `image "a=docker://b:v1": name "docker://b": ` + notName,
		"a=user:pw@ghcr.io/b:v1":        `image "a=user:pw@ghcr.io/b:v1": name "user:pw@ghcr.io/b": ` + notName,
		"a=b:-v1":                       `image "a=b:-v1": tag "-v1": ` + notTag,
		"a=b:::set-output":              `image "a=b:::set-output": tag "::set-output": ` + notTag,
		"a=b@sha256:abc":                `image "a=b@sha256:abc": digest "sha256:abc": ` + notDigest,
		"a@SHA256:" + digest[7:]:        `image "a@SHA256:` + digest[7:] + `": digest "SHA256:` + digest[7:] + `": ` + notDigest,
		"a b=c:v1":                      `image "a b=c:v1": ` + notReference,
		"a'b=c:v1":                      `image "a'b=c:v1": name "a'b": expected the image of the manifests, letters, digits and . _ / : -`,
	} {
		if got, err := kustomize.ParseImage(arg); err == nil || err.Error() != want {
			t.Errorf("%q: got %+v,\n %v, want\n %s", arg, got, err, want)
		}
	}
	long := "a=" + strings.Repeat("b", 256) + ":v1"
	if _, err := kustomize.ParseImage(long); err == nil || !strings.HasSuffix(err.Error(), "expected at most 255 characters") {
		t.Errorf("got %v", err)
	}
}

// FuzzParseImage accepts only what the container tools' own parser accepts.
func FuzzParseImage(f *testing.F) {
	for _, arg := range []string{"app:v1", "a=b:v1@" + digest, "app=*:v1", "localhost:5000/a@" + digest, "a:b\nc", "a=docker://b"} {
		f.Add(arg)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		image, err := kustomize.ParseImage(arg)
		if err != nil {
			return
		}
		if image.String() != arg {
			t.Errorf("%q is written as %q", arg, image)
		}
		ref := image.Name
		if image.NewName != "" {
			ref = image.NewName
		}
		ref = strings.ReplaceAll(ref, "*", "kept")
		if image.NewTag != "" {
			ref += ":" + strings.ReplaceAll(image.NewTag, "*", "kept")
		}
		if image.Digest != "" {
			ref += "@" + strings.ReplaceAll(image.Digest, "*", digest)
		}
		if _, err := reference.Parse(ref); err != nil {
			t.Errorf("%q: %q: %v", arg, ref, err)
		}
	})
}
