package knative

import (
	"strings"
	"testing"
	"testing/fstest"
)

// imageOverlay is an overlay whose Service has labels, settings and a Job beside it; more is added to its kustomization.
func imageOverlay(image, more string) fstest.MapFS {
	return fstest.MapFS{
		"app/service.yaml": {Data: []byte(`apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: web
  labels: {networking.knative.dev/visibility: cluster-local}
spec:
  template:
    spec:
      serviceAccountName: web
      containers:
        - image: ` + image + `
          env:
            - {name: SKIP_AUTH, value: "0"}
            - {name: VERSION, value: none}
            - {name: OTEL_RESOURCE_ATTRIBUTES, value: "service.name=web,service.version=none"}
          args: [--version=none, --admin=none, "--upstream=http://build.none:80"]
          envFrom:
            - secretRef: {name: db-production}
            - configMapRef: {name: limits}
`)},
		"app/migrate.yaml": {Data: []byte(`apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {argocd.argoproj.io/hook: PreSync}
spec: {template: {spec: {containers: [{name: migrate, image: example.test/migrate:v1}]}}}
`)},
		"app/kustomization.yaml": {Data: []byte("resources: [service.yaml, migrate.yaml]\nconfigMapGenerator:\n  - name: limits\n    literals: [version=none, most=3]\n" + more)},
	}
}

// copied has the tag copied to a place that selectors go by, and a patch for what they select.
func copied(selector, target, patch string) string {
	var all strings.Builder
	all.WriteString(`replacements:
  - source: {kind: Service, name: web, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: ':', index: 1}}
    targets:
      - select: {name: ` + target + `}
        fieldPaths: [metadata.annotations.share]
        options: {create: true}
transformers:
`)
	for _, one := range []string{`annotationSelector: "` + selector + "\"}\n    patch: |-\n      - " + patch, "}\n    patch: |-\n      - {op: remove, path: /metadata/annotations/share}"} {
		all.WriteString("  - |-\n    apiVersion: builtin\n    kind: PatchTransformer\n    metadata: {name: p" + string(rune('0'+strings.Count(all.String(), "PatchTransformer"))) + "}\n" +
			"    target: {name: " + target + ", " + one + "\n")
	}
	return strings.ReplaceAll(all.String(), ", }", "}")
}

// replacing has parts of the image copied to a field of the Service.
func replacing(delimiter, index, field string) string {
	return "replacements:\n  - source: {kind: Service, name: web, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: '" + delimiter + "', index: " + index + "}}\n" +
		"    targets:\n      - select: {kind: Service, name: web}\n        fieldPaths: [\"" + field + "\"]\n        options: {create: true}\n"
}

// withDelimiter has it copied to a part of what is there.
func withDelimiter(replacement, delimiter, index string) string {
	return strings.Replace(replacement, "options: {create: true}", "options: {delimiter: '"+delimiter+"', index: "+index+"}", 1)
}

// into has the tag copied to a part of an annotation of the pods.
func into(delimiter, index, name, value string) string {
	return "patches:\n  - patch: |-\n      apiVersion: serving.knative.dev/v1\n      kind: Service\n      metadata: {name: web}\n" +
		"      spec: {template: {metadata: {annotations: {" + name + ": '" + value + "'}}}}\n" +
		"replacements:\n  - source: {kind: Service, name: web, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: ':', index: 1}}\n" +
		"    targets:\n      - select: {kind: Service, name: web}\n        fieldPaths: ['spec.template.metadata.annotations.[" + name + "]']\n" +
		"        options: {delimiter: '" + delimiter + "', index: " + index + "}\n"
}

// TestCheckText has what of a render goes by more of an image than its text, and what goes by that.
func TestCheckText(t *testing.T) {
	t.Parallel()
	const image = "example.test/web:v3.1.0-rc.2"
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, test := range map[string]struct{ image, more, want string }{
		"nothing":            {image, "", ""},
		"a tag by an entry":  {"example.test/web", "images:\n  - {name: example.test/web, newTag: \"3\"}\n", ""},
		"another name":       {"web", "images:\n  - {name: web, newName: example.test/web, newTag: v1}\n", ""},
		"a digest":           {"example.test/web" + digest, replacing(":", "1", "metadata.labels.version"), ""},
		"a tag and a digest": {image + digest, replacing("@", "0", "metadata.annotations.version"), ""},
		"no tag":             {"example.test/web", "", ""},
		"the tag":            {image, replacing(":", "1", "metadata.labels.version"), ""},
		"a part of it":       {image, replacing(".", "2", "spec.template.spec.containers.0.env.1.value"), ""},
		"a name that follows its content": {image, "replacements:\n  - source: {kind: Service, name: web, fieldPath: spec.template.spec.containers.0.image}\n" +
			"    targets:\n      - select: {kind: ConfigMap}\n        fieldPaths: [data.version]\n", ""},
		"a Job of another tag yet": {image, "patches:\n  - target: {kind: Job}\n    patch: |-\n      - {op: replace, path: /spec/template/spec/containers/0/image, value: example.test/web:v1}\n", ""},
		"two entries for one":      {"one", "images:\n  - {name: one, newName: example.test/web, newTag: v1}\n  - {name: two, newName: example.test/web, newTag: v1}\n", ""},
		"names of several generated": {image, "  - {name: limits-1, literals: [a=b]}\n  - {name: limits-z, literals: [version=c]}\nsortOptions: {order: legacy}\nreplacements:\n  - source: {kind: Service, name: web, fieldPath: spec.template.spec.containers.0.image}\n" +
			"    targets:\n      - select: {kind: ConfigMap}\n        fieldPaths: [data.version]\n        options: {create: true}\n", ""},
		"an injector's image": {"example.test/web:acme", into("/", "1", "sidecar.istio.io/proxyImage", "ghcr.io/acme/proxy:1.24"),
			"is copied to /spec/template/metadata/annotations/sidecar.istio.io~1proxyImage, so that whoever"},
		"a stage":      {"example.test/web:acme", into("-", "0", "example.test/STAGE", "dev-1"), "is copied to /spec/template/metadata/annotations/example.test~1STAGE, so that whoever"},
		"an attribute": {image, withDelimiter(replacing(":", "1", "spec.template.spec.containers.0.env.2.value"), "=", "2"), ""},
		"another attribute": {image, withDelimiter(replacing(":", "1", "spec.template.spec.containers.0.env.2.value"), "=", "1"),
			"is copied to /spec/template/spec/containers/0/env/2/value, so that whoever"},
		"an argument":           {image, withDelimiter(replacing(":", "1", "spec.template.spec.containers.0.args.0"), "=", "1"), ""},
		"a host in an argument": {image, withDelimiter(replacing(":", "1", "spec.template.spec.containers.0.args.2"), "build.", "1"), "is copied to /spec/template/spec/containers/0/args/2, so that whoever"},
		"another argument":      {image, withDelimiter(replacing(":", "1", "spec.template.spec.containers.0.args.1"), "=", "1"), "is copied to /spec/template/spec/containers/0/args/1, so that whoever"},
		"a host": {"example.test/web:acme", into(".", "0", "example.test/release-host", "acme.example.test"),
			"is copied to /spec/template/metadata/annotations/example.test~1release-host, so that whoever"},
		"a number of a build": {"example.test/web:12", into("-", "1", "example.test/buildNumber", "b-1"), ""},
		"an injector's short image": {"example.test/web:acme", into(":", "0", "sidecar.istio.io/proxyImage", "acme:1.24"),
			"is copied to /spec/template/metadata/annotations/sidecar.istio.io~1proxyImage, so that whoever"},
		"an injector's tag": {"example.test/web:1.24", into(":", "1", "sidecar.istio.io/proxyImage", "ghcr.io/acme/proxy:1.24"), ""},
		"an address of a release": {"example.test/web:acme", into("/", "3", "example.test/release", "https://example.test/acme"),
			"is copied to /spec/template/metadata/annotations/example.test~1release, so that whoever"},
		"an account of the tag": {"example.test/web:web-1.5.0", replacing(":", "1", "metadata.annotations.version") + "  - source: {kind: Service, name: web, fieldPath: metadata.annotations.version, options: {delimiter: '-', index: 0}}\n" +
			"    targets:\n      - select: {kind: Service, name: web}\n        fieldPaths: [spec.template.spec.serviceAccountName]\n", "is copied to /spec/template/spec/serviceAccountName, so that whoever"},
		"a role of the tag":    {"example.test/web:web", replacing(":", "1", `spec.template.metadata.annotations.[iam.amazonaws.com/role]`), "is copied to /spec/template/metadata/annotations/iam.amazonaws.com~1role, so that whoever"},
		"a version of the tag": {image, replacing(":", "1", `spec.template.metadata.annotations.[app.kubernetes.io/version]`), ""},
		"a commit of the tag":  {"example.test/web:a1b2c3d-20261101", replacing(":", "1", "metadata.labels.commit"), ""},
		"a label":              {image, copied("share=v3.1.0-rc.2", "web", "{op: remove, path: /metadata/labels/networking.knative.dev~1visibility}"), "Service/web /metadata/labels/networking.knative.dev~1visibility"},
		"a number":             {image, copied("share=v3.1.0-rc.2", "web", `{op: replace, path: /spec/template/spec/containers/0/env/0/value, value: "2"}`), "Service/web /spec/template/spec/containers/0/env/0/value"},
		"a longer text":        {image, copied("share=v3.1.0-rc.2", "web", "{op: replace, path: /spec/template/spec/serviceAccountName, value: web-rc.2}"), "Service/web /spec/template/spec/serviceAccountName"},
		"another secret":       {image, copied("share=v3.1.0-rc.2", "web", "{op: replace, path: /spec/template/spec/containers/0/envFrom/0/secretRef/name, value: db-adminadmin}"), "Service/web /spec/template/spec/containers/0/envFrom/0/secretRef/name"},
		"all but one":          {image, copied("share notin (v3.1.0-rc.2)", "web", "{op: replace, path: /spec/template/spec/serviceAccountName, value: admin}"), "Service/web /spec/template/spec/serviceAccountName"},
		"a Job":                {image, copied("share=v3.1.0-rc.2", "migrate", "{op: replace, path: /spec/template/spec/containers/0/image, value: example.test/miner:v3.1.0-rc.2}"), "Job/migrate /spec/template/spec/containers/0/image"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, err := Read(t.Context(), imageOverlay(test.image, test.more), "app", "web")
			if err != nil {
				t.Fatal(err)
			}
			got := CheckText(t.Context(), state)
			if test.want == "" && got != nil {
				t.Error(got)
			}
			want := "more than their text would be otherwise: " + test.want + "; take out"
			if strings.Contains(test.want, " ") && strings.HasPrefix(test.want, "is ") {
				want = test.want
			}
			if test.want != "" && (got == nil || !strings.Contains(got.Error(), want)) {
				t.Errorf("%v\nwant %s", got, want)
			}
		})
	}
}

// TestCheckTextOf has an edit to a tag of another form: a part of a tag in one form may be the whole of it in the other, and another name
// of the image comes with a rollback. What stands there beside is the same.
func TestCheckTextOf(t *testing.T) {
	t.Parallel()
	const version = "/spec/template/spec/containers/0/env/1/value"
	for name, test := range map[string]struct{ image, other, more, want string }{
		"a part":       {"example.test/web:v3-1", "example.test/web:v4", replacing("-", "0", "metadata.labels.version"), ""},
		"a digest":     {"example.test/web:v3", "example.test/web@sha256:" + strings.Repeat("0", 64), replacing("/", "1", "metadata.annotations.version"), ""},
		"no tag":       {"example.test/web", "example.test/web:v3", "", ""},
		"another name": {"web:v3", "web:v3", "images:\n  - {name: web, newName: example.HERE/web}\n" + replacing("@", "0", "metadata.annotations.image"), ""},
		"another text": {"example.test/web:v3", "example.test/web:v3-1", form("v.*-.*", "{op: replace, path: "+version+", value: none of it}"), "Service/web " + version},
		"another image": {"example.test/web:v3", "example.test/web:v3-1", form("v.*-.*", "{op: add, path: /spec/template/metadata, value: {annotations: {image: example.org/miner:1}}}"),
			"Service/web /spec/template/metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var states [2]*State
			for i, image := range []string{test.image, test.other} {
				more := strings.ReplaceAll(test.more, "HERE", []string{"test", "org"}[i])
				state, err := Read(t.Context(), imageOverlay(image, more), "app", "web")
				if err != nil {
					t.Fatal(err)
				}
				states[i] = state
			}
			got := CheckTextOf(t.Context(), states[0], states[1])
			if test.want == "" && got != nil || test.want != "" && (got == nil || !strings.Contains(got.Error(), "would be otherwise: "+test.want)) {
				t.Errorf("%v\nwant %s", got, test.want)
			}
		})
	}
}

// form has a patch for tags of one form alone.
func form(tag, patch string) string {
	return `replacements:
  - source: {kind: Service, name: web, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: ':', index: 1}}
    targets:
      - select: {kind: Service}
        fieldPaths: [metadata.name]
transformers:
  - |-
    apiVersion: builtin
    kind: PatchTransformer
    metadata: {name: p}
    target: {kind: Service, name: "` + tag + `"}
    patch: |-
      - ` + patch + `
  - |-
    apiVersion: builtin
    kind: PatchTransformer
    metadata: {name: q}
    target: {kind: Service}
    options: {allowNameChange: true}
    patch: |-
      - {op: replace, path: /metadata/name, value: web}
`
}
