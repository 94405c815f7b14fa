package pipeline

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// begin is what files of the tests begin with.
const begin = "version: 1\npath: apps/{service}/overlays/{environment}\n"

// someKeys are some of those that inputs make, with a check of values that takes all but one.
func someKeys() Keys {
	return Keys{Check: refuse, All: []Key{
		{Input: "from", Guard: true, Stricter: More("")}, {Input: "from-branch", Guard: true, Of: []string{"from"}}, {Input: "soak", Guard: true, Stricter: Longer()},
		{Input: "checks", Guard: true, Stricter: More(", and more besides")}, {Input: "on-config-drift", Guard: true, Stricter: Always("fail")},
		{Input: "steps", Guard: true}, {Input: "probe", Guard: true}, {Input: "probe-count", Guard: true, Of: []string{"probe"}, Default: "3", Stricter: Higher()},
		{Input: "strict", Guard: true, Stricter: Always("true")}, {Input: "pod-security", Guard: true, Stricter: Always("restricted")},
		{Input: "skip-checks", Guard: true, Of: []string{"preflight", "strict"}, Stricter: Fewer()}, {Input: "preflight", Guard: true, Default: "error", Stricter: Always("error")}, {Input: "on-failure", Guard: true},
		{Input: "application"}, {Input: "argocd-server"}, {Input: "probe-connect", Of: []string{"probe"}}, {Input: "timeout"}, {Input: "wait-for-source"}, {Input: "image", Of: []string{"from"}, Unsaid: true},
	}}
}

// refuse is a check of values that takes all but one.
func refuse(_, value string) error {
	if value == "bad" {
		return errors.New("expected something good")
	}
	return nil
}

// TestParseErrors has every error of a file, as a user sees it.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	keys := strings.Join(append(someKeys().each(), approval), ", ") + " or " + override
	for _, test := range []struct{ file, want string }{
		{"", "it is empty: expected version, path and environments"},
		{"# later\n", "it is empty: expected version, path and environments"},
		{strings.Repeat("#", sizeLimit+1), "it has 262145 bytes: expected 262144 at most"},
		{"version: [", "line 1: expected YAML: did not find expected node content"},
		{"- 1", "line 1: the file: a list: expected a mapping with version, path, defaults, environments or services"},
		{"versions: 1", `line 1: the file: the key "versions" is not known: expected version, path, defaults, environments or services`},
		{"version: 1\nversion: 1", "line 2: the file: version is there twice: expected it once"},
		{"path: x", "line 1: version is missing: expected version: 1"},
		{"version: 2", `line 1: version: "2": expected 1`},
		{"version: 1", "line 1: path is missing: expected the folders of the overlays, for example path: apps/{service}/overlays/{environment}"},
		{"version: 1\npath: apps/{service}", `line 2: path: "apps/{service}": expected {environment} in it, as each environment has an overlay of its own, for example path: apps/{service}/overlays/{environment}`},
		{"version: 1\npath: apps/{target}/{environment}", `line 2: the file: path: "apps/{target}/{environment}": expected no other words in braces than {service} and {environment}`},
		{begin, "line 1: environments is missing: expected them in order, for example environments: {staging: {}, production: {from: staging}}"},
		{begin + "environments: {}", "line 3: environments: expected one at least"},
		{begin + "environments: [dev]", "line 3: environments: a list: expected a mapping with names of environments, of letters, digits, dots, dashes and underscores"},
		{begin + "environments: {a/b: {}}", `line 3: environments: "a/b": expected names of environments, of letters, digits, dots, dashes and underscores`},
		{begin + "environments: {dev: {}, dev: {}}", "line 3: environments: dev is there twice: expected it once"},
		{begin + "environments:\n  eu-1: {}\n  dev: {}\n  EU_1: {}", "line 6: environments: eu-1 and EU_1: the variable ARGOCD_AUTH_TOKEN_EU_1 would have the token of both: expected names that differ in letters or digits"},
		{begin + "environments: {dev: on}", `line 3: dev: "on": expected a mapping with ` + keys},
		{begin + "environments:\n  dev:\n    stepps: 100", `line 5: dev: the key "stepps" is not known: expected ` + keys},
		{begin + "environments: {dev: {token: x}}", `line 3: dev: the key "token" is not known: expected ` + keys},
		{begin + "environments: {dev: {steps: bad}}", `line 3: dev: steps: "bad": expected something good`},
		{begin + "environments: {dev: {steps: [{10: 5m}]}}", "line 3: dev: steps: a mapping: expected a value, as the input steps takes it, or a list of those"},
		{begin + "environments: {dev: {steps: []}}", "line 3: dev: steps: the list is empty: expected a value, or no steps"},
		{begin + "environments: {dev: {probe: }}", "line 3: dev: probe: nothing: expected a value, as the input probe takes it, or a list of those"},
		{begin + "environments: {dev: &x {probe: /}, test: *x}", "line 3: test: an alias, which is not read: expected a mapping with " + keys},
		{begin + "environments: {dev: {approval: yes}}", `line 3: dev: approval: "yes": expected true, false or if-known`},
		{begin + "environments: {dev: {approval: [true]}}", "line 3: dev: approval: a list: expected true, false or if-known"},
		{begin + "environments: {dev: {override: guards}}", `line 3: dev: override: "guards": expected true or false`},
		{begin + "environments: {dev: {application: '{app}'}}", `line 3: dev: application: "{app}": expected no other words in braces than {service} and {environment}`},
		{begin + "environments: {dev: {}, qa: {}, prod: {from: [dev, prod]}}", `line 3: prod: from: "prod": expected an environment that stands before it: dev or qa`},
		{begin + "environments: {dev: {}, qa: {}, prod: {from: [qa, dev, qa]}}", `line 3: prod: from: "qa" is there twice: expected it once`},
		{begin + "environments: {dev: {}, prod: {from: [{dev: 1}]}}", "line 3: prod: from: a mapping: expected a value, as the input from takes it, or a list of those"},
		{begin + "environments: {dev: {}, prod: {from: ','}}", `line 3: prod: from: ",": expected names of environments`},
		{begin + "environments: {dev: {from: dev}}", `line 3: dev: from: "dev": it is the first environment: expected no from`},
		{begin + "environments: {dev: {}, test: {}, prod: {from: stagin}}", `line 3: prod: from: "stagin": expected an environment that stands before it: dev or test`},
		{begin + "environments:\n  dev: {}\n  test: {from: prod}\n  prod: {from: test}", `line 5: test: from: "prod": expected an environment that stands before it: dev`},
		{begin + "environments: {dev: {}, prod: {soak: 1h}}", "line 3: prod: soak: there is no environment that it asks this of: expected from too"},
		{begin + "environments: {dev: {}}\ndefaults: {from: dev}", `line 4: defaults: the key "from" is not known: expected on-config-drift`},
		{begin + "environments: {dev: {}}\nservices: {Cart: {}}", `line 4: services: "Cart": expected names of Services`},
		{begin + "environments: {dev: {}, prod: {}}\nservices: {cart: {test: {}}}", `line 4: cart: the key "test" is not known: expected dev or prod`},
		{begin + "environments: {dev: {}, prod: {}}\nservices: {cart: {prod: {checks: e2e}}}", "line 4: cart: prod: checks: there is no environment that it asks this of: expected from too"},
		{begin + "environments: {dev: {}, prod: {}}\nservices: {cart: {prod: {from: prod}}}", `line 4: cart: prod: from: "prod": expected an environment that stands before it: dev`},
		{begin + "---\n", "line 3: there is a second document: expected one"},
	} {
		want := strings.Replace(test.want, "expected on-config-drift", "expected "+strictyaml.Names(someKeys().everywhere()), 1)
		_, err := Parse([]byte(test.file), someKeys())
		if _, ok := errors.AsType[*strictyaml.Error](err); !ok || err.Error() != want {
			t.Errorf("%.200s\n got %v\nwant %s", test.file, err, want)
		}
	}
}

// TestRules has what a file says of a Service in an environment, by its name and
// by its overlay.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"apps/{service}/overlays/{environment}", "./apps/{service}/overlays/{environment}/"} {
		testRules(t, path)
	}
}

func testRules(t *testing.T, path string) {
	t.Helper()
	file := read(t, `version: 1
path: `+path+`
defaults: {application: "{service}-{environment}", probe: /healthz}
environments:
  dev:
  staging: {from: dev, checks: [e2e, contract], probe-count: 5}
  production:
    from: staging
    approval: true
    probe: /readyz
services:
  cart:
    production: {approval: false, override: true, from: [dev, staging]}
`)
	for _, test := range []struct{ overlay, want string }{
		{"apps/web/overlays/dev", "web dev: application=web-dev:3 path=apps/web/overlays/dev:2 probe=/healthz:3"},
		{"apps/web/overlays/staging", "web staging: application=web-staging:3 checks=e2e|contract:6 from=apps/web/overlays/dev:6 path=apps/web/overlays/staging:2 probe=/healthz:3 probe-count=5:6"},
		{"apps/web/overlays/production", "web production: application=web-production:3 from=apps/web/overlays/staging:8 path=apps/web/overlays/production:2 probe=/readyz:10 approval:9"},
		{"apps/cart/overlays/production", "cart production: application=cart-production:3 from=apps/cart/overlays/dev|apps/cart/overlays/staging:13 path=apps/cart/overlays/production:2 probe=/readyz:10 override"},
		{"apps/web/overlays/test", ""},
		{"apps/web/x/overlays/dev", ""},
		{"apps/web/overlays/dev/x", ""},
	} {
		rules, err := file.Of(test.overlay, "other")
		if got := shown(rules); err != nil || got != test.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", test.overlay, got, err, test.want)
		}
		if rules.Known() && file.Path(rules.Service, rules.Environment) != test.overlay {
			t.Errorf("%s has the rules of %s in %s", test.overlay, rules.Service, rules.Environment)
		}
	}
	alone := read(t, "version: 1\npath: 'overlays/{environment}'\nenvironments: {dev: {}}\nservices: {web: {dev: {probe: /}}}")
	if got, want := shown(of(alone, "overlays/dev", "web")), "web dev: path=overlays/dev:2 probe=/:4"; got != want || alone.PerService() {
		t.Errorf("one Service: got %s, want %s", got, want)
	}
	twice := read(t, "version: 1\npath: '{service}/{environment}/{service}'\nenvironments: {dev: {}}")
	if of(twice, "a/dev/b", "").Known() || !of(twice, "a/dev/a", "").Known() {
		t.Error("a path that names two Services is one of the file")
	}
	flat := read(t, "version: 1\npath: 'apps/{service}-{environment}'\nenvironments: {prod: {}, eu-prod: {approval: true}}")
	if of(flat, "apps/web-prod", "web").Environment != "prod" || of(flat, "apps/web-eu-prod", "web").Environment != "eu-prod" || of(flat, "apps/web-eu-prod", "web-eu").Environment != "prod" {
		t.Error("the Service does not tell the environments of a flat path apart")
	}
	const want = "the path apps/{service}-{environment} does not tell which of the environments prod and eu-prod has the overlay apps/web-eu-prod of Service shop: expected a folder called as the Service is, or a / between them in the path"
	if rules, err := flat.Of("apps/web-eu-prod", "shop"); err == nil || err.Error() != want || rules.Known() {
		t.Errorf("two environments: got %v, %v, want %s", rules, err, want)
	}
}

func read(t *testing.T, text string) File {
	t.Helper()
	file, err := Parse([]byte(text), someKeys())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// of are the rules of an overlay, or none.
func of(file File, overlay, service string) Rules {
	rules, _ := file.Of(overlay, service)
	return rules
}

// FuzzParse looks that no file is read half: what is read has a path for each
// environment, by which it is found again, and takes images from one before it.
func FuzzParse(f *testing.F) {
	f.Add(begin + "environments: {dev: {}, prod: {from: dev, soak: 1h}}\nservices: {cart: {prod: {soak: 2h}}}")
	f.Add("version: 1\npath: '{environment}/{service}.{service}'\nenvironments: {a.b: , c: {approval: true}}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse([]byte(text), someKeys())
		if err != nil {
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok || strings.Contains(err.Error(), "\n") {
				t.Errorf("an error without a line, or of several: %q", err)
			}
			return
		}
		for i, environment := range file.Environments {
			rules := file.Rules("cart", environment)
			found, err := file.Of(rules.Settings["path"].Text, "cart")
			if err != nil || !found.Known() || file.Path(found.Service, found.Environment) != rules.Settings["path"].Text {
				t.Errorf("%q is not found again", rules.Settings["path"].Text)
			}
			for _, from := range rules.Sources() {
				if !slices.ContainsFunc(file.Environments[:i], func(before string) bool { return file.Path("cart", before) == from }) {
					t.Errorf("%s takes images from %q", environment, from)
				}
			}
		}
	})
}

// TestApart has overlays of the file that build on others of it.
func TestApart(t *testing.T) {
	t.Parallel()
	file := read(t, "version: 1\npath: apps/{service}/{environment}\nenvironments: {staging: {}, production: {}}\n")
	below := func(overlay string) []string {
		return map[string][]string{"apps/web/production": {"apps/web/base", "apps/web/staging"}, "apps/cart/production": {"apps/cart/base"}}[overlay]
	}
	const wrong = "apps/web/production builds on apps/web/staging, and one of them is the overlay of "
	for overlay, want := range map[string]string{
		"apps/web/production": wrong + "staging: ", "apps/web/staging": wrong + "production: ", "apps/web/base": "apps/web/production builds on apps/web/base, and one",
		"apps/cart/production": "", "apps/cart/staging": "", "apps/other": "",
	} {
		err := file.Apart(overlay, "web", below)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", overlay, err, want)
		}
	}
	for folder, want := range map[string]bool{"apps/web/production": true, "apps/web/base": false, "apps/web": false} {
		if file.Deploys(folder) != want {
			t.Errorf("%s is deployed: %t", folder, !want)
		}
	}
}
