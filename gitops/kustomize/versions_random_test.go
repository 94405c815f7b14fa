package kustomize_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/gitops/kustomize"
)

var randomly = flag.Int("randomly", 300, "how many overlays TestDifferencesAtRandom makes up")

// TestDifferencesAtRandom has the real versions of kustomize render overlays that are made up: where one renders otherwise
// than is linked, a difference is found.
func TestDifferencesAtRandom(t *testing.T) {
	if !*every {
		t.Skip("compiles other versions of kustomize: run it with -every")
	}
	programs := otherVersions(t)
	rendered, differing, alarms := 0, 0, 0
	for seed := range *randomly {
		files := madeUpOverlay(rand.New(rand.NewPCG(5, uint64(seed))))
		want, err := kustomize.Render(patient(t), files, overlay)
		if err != nil {
			continue
		}
		rendered++
		all, err := kustomize.Differences(t.Context(), files, overlay)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for version, program := range programs {
			found := slices.ContainsFunc(all, func(d kustomize.Difference) bool { return differsIn(d, version) })
			cmd := exec.CommandContext(t.Context(), program, "build", "--load-restrictor", "LoadRestrictionsNone", ".")
			cmd.Dir = onDisk(t, files)
			var said bytes.Buffer
			cmd.Stderr = &said
			got, err := cmd.Output()
			differs := err != nil || !slices.Equal(objectsIn(got), objectsIn(want))
			switch {
			case differs && !found:
				t.Errorf("seed %d: kustomize %s renders this otherwise, and nothing is found: %.300s\n%s\n--- %s\n%s\n--- %s\n%s", seed, version, said.String(), asText(files), kustomize.Version, want, version, got)
			case differs:
				differing++
			case found:
				alarms++
			}
		}
	}
	t.Logf("%d overlays made up, %d rendered; other versions render otherwise %d times, and are said to %d times more", *randomly, rendered, differing, alarms)
	if differing == 0 || rendered < *randomly/5 {
		t.Error("the overlays that are made up show nothing")
	}
}

// objectsIn are the documents of a text, in any order.
func objectsIn(text []byte) []string {
	all := strings.Split("\n"+string(text), "\n---\n")
	slices.Sort(all)
	return all
}

func asText(files fstest.MapFS) []byte {
	a := &txtar.Archive{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		a.Files = append(a.Files, txtar.File{Name: strings.TrimPrefix(name, overlay+"/"), Data: files[name].Data})
	}
	return txtar.Format(a)
}

// A writer makes up the text of an overlay.
type writer struct {
	*rand.Rand
	strings.Builder
}

func (w *writer) some(chance float64) bool { return w.Float64() < chance }

func (w *writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func madeUpOverlay(random *rand.Rand) fstest.MapFS {
	files := fstest.MapFS{}
	write := func(name string, make func(*writer)) {
		w := &writer{Rand: random}
		make(w)
		withFile(files, overlay+"/"+name, w.String())
	}
	write("base.yaml", (*writer).objects)
	write("two.yaml", (*writer).twoPatches)
	write("kustomization.yaml", func(w *writer) {
		w.line("resources: [base.yaml]")
		w.kustomization()
		if w.some(.2) {
			w.line("components: [part]")
		}
	})
	write("part/kustomization.yaml", func(w *writer) {
		w.line("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component")
		w.kustomization()
	})
	write("part/two.yaml", (*writer).twoPatches)
	return files
}

// value is what a field may have.
func (w *writer) value() string {
	return w.one("null", "null", "", "{}", "[]", `""`, "text", `"image: none"`, "1", "true", "{a: b}", "[a, b]", `"null"`, "{y: one, image: two}")
}

// paths are those of fields, with dots, by the kinds that have them.
var paths = map[string][]string{
	"Service": {"metadata.annotations.note", `metadata.annotations.a\.b/c`, `metadata.annotations.internal\.config\.kubernetes\.io/helm-generated`, "spec.x.y", "spec.template.spec.containers.0.image",
		"spec.template.spec.containers.[name=ab].image", "spec.template.spec.containers.[name=a.b].x.image", "spec.template.spec.containers.[name=a+b].x.image", "spec.template.spec.containers.[name=a+b].image",
		"spec.template.spec.containers.*.name", "spec.template.spec.containers.1.image", "spec.template.spec.containers.[name=ab].env.[name=A.B].value"},
	"Deployment":  {"metadata.name", "metadata.labels.app", "spec.x", "spec.x.y", "spec.replicas", "spec.template.spec.volumes.1.emptyDir.medium", "spec.template.spec.volumes.[name=tools].image.reference"},
	"ConfigMap":   {"data.image", "data.text", "data.more.x", "metadata.name"},
	"RoleBinding": {"subjects.0.name", "metadata.namespace", "metadata.annotations.note", `metadata.annotations.internal\.config\.kubernetes\.io/helm-generated`},
	"CronJob":     {"spec.x.y", "spec.jobTemplate.spec.template.spec.volumes.0.emptyDir.medium"},
}

// field is a kind and the path of a field of it.
func (w *writer) field() (kind, path string) {
	kind = w.one("Service", "Service", "Deployment", "Deployment", "ConfigMap", "RoleBinding", "CronJob")
	return kind, w.one(paths[kind]...)
}

// objects are some, with some fields that are odd.
func (w *writer) objects() {
	w.line("apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web, labels: {app: web}, annotations: {note: %s}}", w.one("a", "app:v1", "x|y", `"1"`))
	w.line("spec:\n  template:\n    spec:\n      containers:\n      - {name: %s, image: %s, x: %s}", w.one("ab", "ab", "a.b", "a+b"), w.one("app:v1", "app", "ghcr.io/a/app:v1@sha256:abc"), w.value())
	if w.some(.7) {
		w.line("      - {name: %s, image: %s, x: %s, env: [{name: A.B, value: %s}]}", w.one("aab", "a+b", "axb"), w.one("app:v1", "tools", "x"), w.value(), w.one("a", `"1"`))
	}
	if w.some(.9) {
		w.line("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: worker, namespace: %s}", w.one("default", "kube-system", "team"))
		w.line("spec:\n  replicas: 1\n  x: %s\n  selector: {matchLabels: {app: worker}}\n  template:\n    metadata: {labels: {app: worker}}", w.value())
		w.line("    spec:\n      containers: [{name: ab, image: app:v1}]\n      volumes: [{name: tools, image: {reference: %s}}, {name: scratch, emptyDir: %s}]", w.one("tools", "app:v1", "ghcr.io/a/tools:v1"), w.value())
	}
	w.line("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {image: %s, text: %s, more: %s}", w.one("other:v9", "app"), w.one("a|b|c", "x", `"a: b"`), w.one("a", `"x: 1"`, `'{"x": "y"}'`, `"[1, 2]"`))
	if w.some(.5) {
		w.line("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: debug, namespace: %s, annotations: {note: b}}", w.one("RoleBinding", "ClusterRoleBinding"), w.one("kube-system", "default", `""`))
		w.line("roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}\nsubjects: [{kind: ServiceAccount, name: %s, namespace: %s}]", w.one("default", "other"), w.one("default", "x"))
	}
	if w.some(.3) {
		w.line("---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report}\nspec:\n  x: %s\n  jobTemplate: {spec: {template: {spec: {containers: [{name: ab, image: app}], volumes: [{name: s, emptyDir: }]}}}}", w.value())
	}
	if w.some(.2) {
		w.line("---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec: {group: example.com}\n---\napiVersion: example.com/v1\nkind: %s\nmetadata: {name: a}\nspec: {x: %s, image: app:v1}", w.one("Thing", "ThingList"), w.value())
	}
}

// twoPatches is a file with patches of objects.
func (w *writer) twoPatches() {
	if w.some(.2) {
		w.line("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, $patch: delete}\n---")
	}
	for i := range 1 + w.IntN(2) {
		if i > 0 {
			w.line("---")
		}
		w.line("%s", w.patch())
	}
}

// patch is one that is merged, in a line.
func (w *writer) patch() string {
	return w.one(
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {text: "+w.value()+"}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, $patch: "+w.one("delete", "replace", "merge")+"}",
		"{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web, annotations: {note: "+w.one("null", "b", `"{}"`)+"}}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}, spec: {x: "+w.value()+"}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}, spec: {template: {spec: {containers: [{name: ab, image: "+w.one("app:v2", "null")+"}, {name: new, image: x}]}}}}",
		"{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}, spec: {template: {spec: {containers: [{name: ab, $patch: delete}]}}}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}, spec: {template: {spec: {volumes: [{name: scratch, $retainKeys: [name, emptyDir], emptyDir: {}}]}}}}",
	)
}

// target selects objects, for patches or replacements.
func (w *writer) target() string {
	return w.one("{kind: Service}", "{kind: Deployment}", "{kind: ConfigMap, name: settings}", "{name: w.*}", "{kind: Deployment, namespace: default}", "{labelSelector: app=web}", "{group: apps}",
		"{kind: CronJob}", "{version: v1}", "{kind: ConfigMap, namespace: production}", "{annotationSelector: note=b}", "{name: settings}", "{kind: Serv}", "{group: rbac.authorization.k8s.io, kind: ClusterRoleBinding}")
}

// kustomization is some of what one may have.
func (w *writer) kustomization() {
	parts := []func(){
		func() { w.line("namespace: %s", w.one("production", "default")) },
		func() { w.line("%s: %s", w.one("namePrefix", "nameSuffix"), w.one("a-", "-b", "x")) },
		func() {
			w.line("labels: [{pairs: {team: %s}, includeSelectors: %s, includeTemplates: %s}]", w.one("a", `"1"`), w.one("true", "false"), w.one("true", "false"))
		},
		func() { w.line("commonAnnotations: {note: %s}", w.one("c", `"2"`)) },
		func() { w.line("commonLabels: {team: b}") },
		func() {
			w.line("images: [{name: %s, %s}]", w.one("app", "tools", "ap.", `"ghcr.io/.*/tools"`, `"ghcr.io/tools"`), w.one("newTag: v2", "newName: other", "digest: sha256:abc", "newName: o, newTag: v3", "tagSuffix: -x"))
		},
		func() { w.line("replicas: [{name: worker, count: 3}]") },
		func() { w.line("buildMetadata: [%s]", w.one("originAnnotations", "transformerAnnotations")) },
		func() { w.line("sortOptions: {order: %s}", w.one("legacy", "fifo")) },
		w.generators, w.patches, w.patches, w.replacements, w.replacements, w.replacements, w.transformers, w.transformers,
	}
	for _, i := range w.Perm(len(parts))[:1+w.IntN(3)] {
		w.once(parts[i])
	}
}

// once writes a key unless it is there.
func (w *writer) once(part func()) {
	before := w.String()
	part()
	key, _, _ := strings.Cut(strings.TrimPrefix(w.String(), before), ":")
	if strings.Contains("\n"+before, "\n"+key+":") {
		w.Reset()
		w.WriteString(before)
	}
}

func (w *writer) patches() {
	w.line("patches:")
	for range 1 + w.IntN(2) {
		switch w.IntN(3) {
		case 0:
			w.line("- {path: two.yaml%s}", w.one("", ", options: {allowNameChange: true}"))
		case 1:
			w.line("- {patch: '%s'%s}", strings.ReplaceAll(w.patch(), "'", "''"), w.one("", ", target: "+w.target()))
		case 2:
			pointer := "/" + strings.ReplaceAll(w.one("metadata.annotations.note", "spec.x", "spec.template.spec.containers.0.image", "data.text", "metadata.labels", "spec.template.spec.volumes.0"), ".", "/")
			w.line("- target: %s\n  patch: '- {op: %s, path: %s, %s}'", w.target(), w.one("add", "replace", "remove", "test", "move", "copy"), pointer, w.one("value: "+strings.ReplaceAll(w.value(), "'", "''"), "from: /metadata/name", "from: /metadata/labels"))
		}
	}
}

func (w *writer) replacements() {
	w.line("replacements:")
	for range 1 + w.IntN(2) {
		source := "kind: ConfigMap, name: settings, fieldPath: " + w.one("data.image", "data.text", "data.more", "metadata.name")
		if kind, path := w.field(); w.some(.2) {
			source = fmt.Sprintf("kind: %s, fieldPath: '%s'", kind, path)
		}
		w.line("- source: {%s%s}", source, w.one("", "", "", ", options: {delimiter: '|', index: 0}"))
		w.line("  targets:")
		for range 1 + w.IntN(2) {
			kind, path := w.field()
			selected := "{kind: " + kind + "}"
			if w.some(.3) {
				selected = w.target()
			}
			w.line("  - select: %s\n    fieldPaths: ['%s']", selected, path)
			if w.some(.2) {
				w.line("    reject: [%s]", w.target())
			}
			if w.some(.6) {
				w.line("    options: {%s}", w.one("create: true", "create: true", "delimiter: ':', index: 1", "delimiter: '|', index: -1", "create: true, delimiter: ':'", "create: false"))
			}
		}
	}
}

func (w *writer) generators() {
	w.line("%s:\n- {name: %s, literals: [%s]%s%s}", w.one("configMapGenerator", "secretGenerator"), w.one("settings", "made"), w.one("a=b", "a=", "image=x", `"a=b=c"`, "text="),
		w.one("", ", behavior: merge", ", behavior: replace", ", behavior: create"), w.one("", ", options: {disableNameSuffixHash: true}", ", options: {labels: {a: b}}", ", options: {immutable: true}", ", namespace: production"))
}

// transformers are builtin plugins, some for fields of their own.
func (w *writer) transformers() {
	_, path := w.field()
	field := strings.NewReplacer(".[name=ab]", "", ".[name=a.b]", "", ".[name=a+b]", "", ".[name=a]", "", ".[name=tools]", "", ".[name=A.B]", "", ".0", "", ".1", "", ".*", "", `\.`, "-", ".", "/").Replace(path)
	if w.some(.2) {
		field = "spec/template/spec/volumes/image/reference"
	}
	specs := fmt.Sprintf("fieldSpecs: [{path: %s%s%s}]", field, w.one("", ", kind: Deployment", ", kind: Service"), w.one("", ", create: true"))
	w.line("transformers:\n- |-\n  apiVersion: builtin\n  kind: %s", w.one(
		"PrefixTransformer\n  prefix: ghcr.io/\n  "+specs, "SuffixTransformer\n  suffix: -z\n  "+specs, "LabelTransformer\n  labels: {a: b}\n  "+specs, "AnnotationsTransformer\n  annotations: {a: b}\n  "+specs,
		"NamespaceTransformer\n  "+w.one("unsetOnly: true", "setRoleBindingSubjects: "+w.one("none", "allServiceAccounts", "defaultOnly"), specs),
		"ImageTagTransformer\n  imageTag: {name: app, newTag: v7}\n  "+specs, "ReplicaCountTransformer\n  replica: {name: worker, count: 2}\n  "+specs,
		"ValueAddTransformer\n  value: "+w.one("v", `"1"`)+"\n  targets: [{fieldPath: "+field+", selector: "+w.target()+"}]",
		"PatchTransformer\n  target: "+w.target()+"\n  patch: '- {op: add, path: /metadata/labels, value: {z: z}}'",
		"ReplacementTransformer\n  replacements: [{source: {kind: ConfigMap, fieldPath: data.image}, targets: [{select: "+w.target()+", fieldPaths: ['"+path+"']}]}]"))
	w.line("  metadata: {name: made%s}", w.one("", ", namespace: production"))
}
