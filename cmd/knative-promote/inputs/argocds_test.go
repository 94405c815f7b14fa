package inputs

import (
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/pipeline"
)

// TestSourceArgo has where a run asks for its target and for the environment that
// its images come from, and with which token.
func TestSourceArgo(t *testing.T) {
	t.Parallel()
	const begin = "version: 1\npath: apps/{service}/overlays/{environment}\n"
	const apart = begin + "environments: {staging: {argocd-server: stg.example.com}, production: {argocd-server: 'https://prod.example.com/', from: staging}}"
	const paths = begin + "defaults: {argocd-server: argo.example.com}\nenvironments: {staging: {argocd-root-path: /stg}, production: {from: staging, argocd-root-path: /prod}}"
	const one = begin + "defaults: {argocd-server: argo.example.com}\nenvironments: {staging: {}, production: {from: staging}}"
	const three = begin + "environments: {qa: {argocd-server: qa.example.com}, staging: {argocd-server: stg.example.com}, production: {argocd-server: prod.example.com, from: [qa, staging]}}"
	staging, production := "ARGOCD_AUTH_TOKEN_STAGING=s", "ARGOCD_AUTH_TOKEN_PRODUCTION=p"
	for _, test := range []struct {
		name, file string
		env        []string
		want       string // server, path and token of the target; of the source, if other ones
	}{
		{"one for both", one, nil, "argo.example.com argo-secret"},
		{"one with two tokens", one, []string{staging}, "argo.example.com argo-secret; argo.example.com s"},
		{"one whose target has a token of its own", one, []string{production}, "argo.example.com p; argo.example.com argo-secret"},
		{"one with no token for the source", one, []string{production, "INPUT_ARGOCD-TOKEN="}, "argo.example.com p"},
		{"two", apart, []string{staging, production}, "prod.example.com p; stg.example.com s"},
		{"two, and the token for all is the target's", apart, []string{staging}, "prod.example.com argo-secret; stg.example.com s"},
		{"two, and the token for all is the source's", apart, []string{production}, "prod.example.com p; stg.example.com argo-secret"},
		{"two and one token", apart, nil, "argocd-token: missing for staging: from takes the images from there, and its Argo CD is stg.example.com (knative-promote.yaml:3), not prod.example.com; set ARGOCD_AUTH_TOKEN_STAGING"},
		{"two and no token for the source", apart, []string{production, "INPUT_ARGOCD-TOKEN="}, "argocd-token: missing for staging: from takes the images from there, and its Argo CD is stg.example.com (knative-promote.yaml:3), not prod.example.com; set ARGOCD_AUTH_TOKEN_STAGING"},
		{"two and no token for the target", apart, []string{staging, "INPUT_ARGOCD-TOKEN="}, "argocd-token: missing: expected the Argo CD API token that may get, and where auto-sync is off sync, the Application; an environment of `knative-promote.yaml` may have one of its own, in `ARGOCD_AUTH_TOKEN_` and its name, such as `ARGOCD_AUTH_TOKEN_PRODUCTION`; set the input argocd-token or INPUT_ARGOCD_TOKEN; for example: ${{ secrets.ARGOCD_TOKEN }}"},
		{"the target's by another address", apart, []string{staging, "INPUT_ARGOCD-SERVER=127.0.0.1:8443"}, "127.0.0.1:8443 argo-secret; stg.example.com s"},
		{"one by another address", one, []string{"INPUT_ARGOCD-SERVER=127.0.0.1:8443"}, "127.0.0.1:8443 argo-secret"},
		{"two below one address", paths, []string{staging}, "argo.example.com/prod argo-secret; argo.example.com/stg s"},
		{"a path that is given for all", apart, []string{staging, "INPUT_ARGOCD-ROOT-PATH=/cd"}, "prod.example.com/cd argo-secret; stg.example.com/cd s"},
		{"a target that is not in the file", apart, []string{staging, "INPUT_ENVIRONMENT=", "INPUT_PATH=apps/product-import/overlays/canada", "INPUT_FROM=apps/product-import/overlays/staging", "INPUT_ARGOCD-SERVER=ca.example.com"}, "ca.example.com argo-secret; stg.example.com s"},
		{"a source that is not in the file", apart, []string{"INPUT_ENVIRONMENT=", "INPUT_PATH=apps/product-import/overlays/canada", "INPUT_FROM=apps/x", "INPUT_ARGOCD-SERVER=ca.example.com"}, "ca.example.com argo-secret"},
		{"two sources", three, []string{"ARGOCD_AUTH_TOKEN_QA=q", staging}, "prod.example.com argo-secret; qa.example.com q; stg.example.com s"},
		{"two sources and one token", three, []string{production}, "argocd-token: missing for staging: from takes the images from there, and its Argo CD is stg.example.com (knative-promote.yaml:3), not prod.example.com; set ARGOCD_AUTH_TOKEN_STAGING"},
		{"a token that is none", apart, []string{"ARGOCD_AUTH_TOKEN_STAGING=two words"}, "argocd-token: the value (ARGOCD_AUTH_TOKEN_STAGING): expected one line without blanks; for example: ${{ secrets.ARGOCD_TOKEN }}"},
	} {
		file, err := pipeline.Parse([]byte(test.file), FileKeys())
		if err != nil {
			t.Fatal(err)
		}
		env := []string{"INPUT_PATH=", "INPUT_APPLICATION=a", "INPUT_ARGOCD-SERVER=", "INPUT_ENVIRONMENT=production"}
		s, err := readWith(t, file, slices.Concat(env, test.env)...)
		got := s.Argo.Server + s.Argo.RootPath + " " + s.Argo.Token
		for _, overlay := range s.Promote.From {
			there, other := s.SourceArgos[overlay]
			if !other {
				continue
			}
			got += "; " + there.Server + there.RootPath + " " + there.Token
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestTokensOfSeveral has what several environments want before the first of them.
func TestTokensOfSeveral(t *testing.T) {
	t.Parallel()
	const text = "version: 1\npath: apps/{service}/overlays/{environment}\nenvironments:\n  dev: {argocd-server: dev.example.com}\n" +
		"  staging: {argocd-server: stg.example.com}\n  production: {argocd-server: prod.example.com, approval: true}"
	file, err := pipeline.Parse([]byte(text), FileKeys())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		env  []string
		want string
	}{
		{nil, "argocd-token: missing for staging: its Argo CD is stg.example.com (knative-promote.yaml:5), and argocd-token is for dev.example.com; set ARGOCD_AUTH_TOKEN_STAGING"},
		{[]string{"ARGOCD_AUTH_TOKEN_STAGING=s"}, ""},
		{[]string{"ARGOCD_AUTH_TOKEN_DEV=d"}, ""},
		{[]string{"INPUT_ARGOCD-SERVER=one.example.com"}, ""},
	} {
		_, err := readWith(t, file, slices.Concat([]string{"INPUT_PATH=", "INPUT_APPLICATION=", "INPUT_ARGOCD-SERVER=", "INPUT_ENVIRONMENT=dev,staging,production"}, test.env)...)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", strings.Join(test.env, " "), got, test.want)
		}
	}
}
