package plane

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/acme/knative-promote/internal/fake/strays"
)

// argocdImport is the import path of an Argo CD version.
func argocdImport(module string) string {
	version := strings.TrimPrefix(module, "argocd-v")
	major, _, _ := strings.Cut(version, ".")
	return "github.com/argoproj/argo-cd/v" + major
}

func argocdPrograms(module string) []program {
	path := argocdImport(module)
	return []program{
		{Name: "argocd", Package: path + "/cmd", LDFlags: "-X " + path + "/common.version=" + strings.TrimPrefix(module, "argocd-v")},
		{Name: "kustomize", Package: "sigs.k8s.io/kustomize/kustomize/v5"},
	}
}

// startArgoCD installs Argo CD's kinds and configuration and runs its repo
// server, application controller and API server.
func (p *Plane) startArgoCD(ctx context.Context, k *Kube, programs Programs) error {
	if err := p.installArgoCD(ctx, k); err != nil {
		return fmt.Errorf("installing Argo CD: %w", err)
	}
	module, redis := p.Versions.argocd(), p.Address("redis")
	argocd := programs.path(module, "argocd")
	repoServer := []string{"--repo-server", p.Address("argocd-repo-server")}
	if err := p.run("redis", nil, programs.path(self, self), "redis", redis); err != nil {
		return err
	}
	for name, args := range map[string][]string{
		"argocd-repo-server": {"--port", p.port("argocd-repo-server"), "--address", "127.0.0.1"},
		"argocd-application-controller": append(repoServer, "--kubeconfig", p.Kubeconfig(),
			"--application-namespaces", teamNamespaces),
		"argocd-server": append(repoServer, "--port", p.port("argocd-server"), "--address", "127.0.0.1",
			"--kubeconfig", p.Kubeconfig(), "--application-namespaces", teamNamespaces),
	} {
		args = append(args, "--redis", redis, "--metrics-port", p.port(name+"-metrics"))
		if err := p.run(name, p.argocdEnv(name, programs), append([]string{argocd}, args...)...); err != nil {
			return err
		}
	}
	if err := p.until(ctx, "argocd-server", p.argocdAnswers); err != nil {
		return err
	}
	return p.makeTokens(ctx, k)
}

// teamNamespaces are the namespaces beside argocd that may hold Applications.
const teamNamespaces = "team-*"

func (p *Plane) port(name string) string { return fmt.Sprint(p.Ports[name]) }

// argocdEnv is what Argo CD's image has in its environment. One binary is all
// of its programs, by ARGOCD_BINARY_NAME.
func (p *Plane) argocdEnv(name string, programs Programs) []string {
	return []string{
		"ARGOCD_BINARY_NAME=" + name,
		"ARGOCD_FAKE_IN_CLUSTER=true", // the cluster it runs in is the one of the kubeconfig
		fmt.Sprintf("ARGOCD_GPG_ENABLED=%t", signatures()), "ARGOCD_GNUPGHOME=" + p.File("argocd/gpg/keys"), "ARGOCD_GPG_DATA_PATH=" + p.File("argocd/gpg/source"),
		"ARGOCD_PLUGINSOCKFILEPATH=" + p.File("argocd/plugins"),
		"ARGOCD_TLS_DATA_PATH=" + p.File("argocd/tls"), "ARGOCD_SSH_DATA_PATH=" + p.File("argocd/ssh"),
		"KUBECONFIG=" + p.Kubeconfig(),
		// These are in /tmp for every repo server there.
		"TMPDIR=" + p.File("argocd/tmp"), "ARGOCD_ASK_PASS_SOCK=" + p.File("askpass.sock"),
		"PATH=" + strings.Join([]string{programs[p.Versions.argocd()], p.File("argocd/bin"), os.Getenv("PATH")}, string(filepath.ListSeparator)),
	}
}

// installArgoCD applies the manifests of Argo CD's own release, as far as they
// are no Deployment, and our settings.
func (p *Plane) installArgoCD(ctx context.Context, k *Kube) error {
	dir, err := p.moduleSource(ctx, p.Versions.argocd())
	if err != nil {
		return err
	}
	if dir, err = moduleDir(ctx, dir, argocdImport(p.Versions.argocd())); err != nil {
		return err
	}
	if err := p.copyWrappers(dir); err != nil {
		return err
	}
	if err := k.Namespace(ctx, "argocd"); err != nil {
		return err
	}
	var patterns []string
	for _, kind := range []string{"application", "applicationset", "appproject"} {
		patterns = append(patterns, dir+"/manifests/crds/"+kind+"-crd.yaml")
	}
	for _, name := range []string{"cm", "cmd-params-cm", "gpg-keys-cm", "rbac-cm", "secret", "ssh-known-hosts-cm", "tls-certs-cm"} {
		patterns = append(patterns, dir+"/manifests/base/config/argocd-"+name+".yaml")
	}
	k = k.In("argocd") // Argo CD's manifests leave the namespace to who applies them
	if err := k.ApplyFiles(ctx, patterns...); err != nil {
		return err
	}
	return k.By("settings").Apply(ctx, fmt.Appendf(nil, argocdSettings, p.GitURL(), GitPassword))
}

// signatures tells whether Argo CD can look at the signatures of commits, for
// which it runs GnuPG.
func signatures() bool {
	_, err := exec.LookPath("gpg")
	return err == nil
}

// copyWrappers puts the scripts on the repo server's path that its version
// looks at signatures with. Argo CD 3.5 asks the first one about every commit,
// also where none are wanted (https://github.com/argoproj/argo-cd/issues/27695).
func (p *Plane) copyWrappers(source string) error {
	for _, script := range []string{"git-verify-wrapper.sh", "gpg-wrapper.sh"} {
		content, err := os.ReadFile(filepath.Join(source, "hack", script))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(p.File("argocd/bin", script), content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// argocdSettings: two accounts beside the admin, the promoter with the role
// that README.md asks for; a project that takes Applications from team
// namespaces; and the password of the Git server.
const argocdSettings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm}
data: {accounts.ci: apiKey, accounts.reader: apiKey}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-rbac-cm}
data:
  policy.csv: |
    p, role:promoter, applications, get, */*, allow
    p, role:promoter, applications, sync, */*, allow
    p, role:promoter, projects, get, *, allow
    p, role:reader, applications, get, */*, allow
    g, ci, role:promoter
    g, reader, role:reader
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default}
spec:
  sourceRepos: ["*"]
  destinations: [{namespace: "*", server: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
  sourceNamespaces: ["*"]
---
apiVersion: v1
kind: Secret
metadata: {name: git, labels: {argocd.argoproj.io/secret-type: repo-creds}}
stringData: {type: git, url: "%s", username: git, password: "%s", forceHttpBasicAuth: "true"}
`

func (p *Plane) argocdAnswers(ctx context.Context) error {
	_, err := p.argocd(ctx, http.MethodGet, "version", "", nil)
	return err
}

// makeTokens logs in as the admin and makes a token for every account.
func (p *Plane) makeTokens(ctx context.Context, k *Kube) error {
	secrets := k.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("argocd")
	var initial, serving *unstructured.Unstructured
	if err := p.until(ctx, "argocd-server", func(ctx context.Context) (err error) {
		if initial, err = secrets.Get(ctx, "argocd-initial-admin-secret", metav1.GetOptions{}); err != nil {
			return err
		}
		serving, err = secrets.Get(ctx, "argocd-secret", metav1.GetOptions{})
		return err
	}); err != nil {
		return err
	}
	for file, key := range map[string]string{p.CA(): "tls.crt", p.Credentials().file("argocd.pem"): "tls.crt", p.Credentials().file("argocd.key"): "tls.key"} {
		if err := os.WriteFile(file, secretValue(serving, key), 0o600); err != nil {
			return err
		}
	}
	login := map[string]string{"username": "admin", "password": string(secretValue(initial, "password"))}
	err := p.until(ctx, "argocd-server", func(ctx context.Context) (err error) {
		p.Tokens["admin"], err = p.argocd(ctx, http.MethodPost, "v1/session", "", login)
		return err
	})
	for _, account := range []string{"ci", "reader"} {
		if err == nil {
			p.Tokens[account], err = p.Token(ctx, account, 0)
		}
	}
	return err
}

// Token makes a token of an Argo CD account that expires after a while; zero
// is never.
func (p *Plane) Token(ctx context.Context, account string, life time.Duration) (string, error) {
	token, err := p.argocd(ctx, http.MethodPost, "v1/account/"+account+"/token", p.Tokens["admin"], map[string]int64{"expiresIn": int64(life.Seconds())})
	if err != nil {
		return "", err
	}
	return token, p.Credentials().Add(strays.Credential{Name: "token of " + account + " for Argo CD", Secret: token, Servers: []string{argocdServer}})
}

// RollBack has Argo CD roll an Application back to an entry of its history, as
// `argocd app rollback` does. It syncs by hand only.
func (p *Plane) RollBack(ctx context.Context, application string, id int64) error {
	_, err := p.argocd(ctx, http.MethodPost, "v1/applications/"+application+"/rollback", p.Tokens["admin"], map[string]any{"id": id, "prune": true})
	return err
}

// Revoke ends a token of an Argo CD account.
func (p *Plane) Revoke(ctx context.Context, account, token string) error {
	var claims struct{ JTI string }
	_, rest, _ := strings.Cut(token, ".")
	payload, _, _ := strings.Cut(rest, ".")
	content, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return fmt.Errorf("reading a token of Argo CD: %w", err)
	}
	if err := json.Unmarshal(content, &claims); err != nil {
		return fmt.Errorf("reading a token of Argo CD: %w", err)
	}
	_, err = p.argocd(ctx, http.MethodDelete, "v1/account/"+account+"/token/"+claims.JTI, p.Tokens["admin"], nil)
	return err
}

// argocd calls Argo CD's REST API and returns the token in its answer, if any.
func (p *Plane) argocd(ctx context.Context, method, path, token string, body any) (string, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, method, "https://"+p.Address("argocd-server")+"/api/"+path, bytes.NewReader(content))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer struct{ Token, Message string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return "", fmt.Errorf("%s %s: %s: %w", method, path, response.Status, err)
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer.Message)
	}
	return answer.Token, nil
}
