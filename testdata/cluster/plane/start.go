package plane

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// portNames are what listens.
var portNames = []string{
	"etcd", "etcd-peer", "kubernetes", "admission", "ingress", "stats", "prometheus",
	"knative-controller-metrics", "knative-controller-profiling", "knative-autoscaler-metrics", "knative-autoscaler-profiling",
	"redis", "argocd-server", "argocd-server-metrics", "argocd-repo-server", "argocd-repo-server-metrics",
	"argocd-application-controller-metrics", "git", "forge",
	"recorded-git", "recorded-forge", "recorded-argocd-server", "recorded-prometheus", "recorded-ingress",
}

// GitPassword is the password of every user of the Git server.
const GitPassword = "git-secret"

// start starts everything: what needs Kubernetes after it, side by side.
func (p *Plane) start(ctx context.Context, o Options, programs Programs) error {
	o.say("starting Kubernetes …")
	if err := p.run("git", nil, programs.path(self, self), "git", p.Address("git"), p.File("git")); err != nil {
		return err
	}
	if err := p.startRecorder(programs); err != nil {
		return err
	}
	if err := p.startKubernetes(ctx, programs); err != nil {
		return err
	}
	k, err := p.Kube()
	if err != nil {
		return err
	}
	o.say("starting Knative %s and Argo CD %s …", o.Versions.Knative, o.Versions.ArgoCD)
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return p.startKnative(ctx, k, programs) })
	all.Go(func() error { return p.startArgoCD(ctx, k, programs) })
	if o.Forge {
		all.Go(func() error { return p.startForge(ctx, k, o) })
	}
	if o.Prometheus {
		all.Go(func() error { return p.startPrometheus(ctx, o) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	return p.writeEnv(programs)
}

// Kubeconfig is the file that reaches the Kubernetes API.
func (p *Plane) Kubeconfig() string { return p.File("kubeconfig") }

// CA is the file with the certificate of Argo CD's API server. Its name is
// localhost.
func (p *Plane) CA() string { return p.File("certs", "argocd.pem") }

// ArgoCDServer is the host and port of Argo CD's API server, with the name
// that its certificate has.
func (p *Plane) ArgoCDServer() string { return "localhost:" + p.port(recorded(argocdServer)) }

// GitURL is the address of the Git server's repositories, each a folder of the
// folder Repositories.
func (p *Plane) GitURL() string { return "http://" + p.Address(recorded(gitServer)) }

// Repositories is the folder of the Git server's bare repositories.
func (p *Plane) Repositories() string { return p.File("git") }

// Ingress is the data path's host and port, for requests with a Service's host.
func (p *Plane) Ingress() string { return p.Address(recorded(ingressServer)) }

// EnvFile is a file of shell variables with every address and token.
func (p *Plane) EnvFile() string { return p.File("env") }

func (p *Plane) writeEnv(programs Programs) error {
	text := fmt.Sprintf(`export KUBECONFIG=%s
export ARGOCD_SERVER=%s ARGOCD_AUTH_TOKEN=%s ARGOCD_READER_TOKEN=%s ARGOCD_ADMIN_TOKEN=%s
export ARGOCD_CA=%s ARGOCD_OPTS="--server-crt %s --grpc-web"
export GIT_URL=%s GIT_PASSWORD=%s
export INGRESS=%s
export INPUT_TOKEN=$GIT_PASSWORD INPUT_ARGOCD_CA="$(cat $ARGOCD_CA)" INPUT_PROBE_CONNECT=$INGRESS
export PATH=%s:$PATH
`, p.Kubeconfig(), p.ArgoCDServer(), p.Tokens["ci"], p.Tokens["reader"], p.Tokens["admin"],
		p.CA(), p.CA(), p.GitURL(), GitPassword, p.Ingress(), programs[p.Versions.argocd()]+":"+programs[kubernetesModule])
	if f, err := p.Forge(); err == nil {
		text += fmt.Sprintf("export FORGE_URL=%s FORGE_USER=%s FORGE_PASSWORD=%s\n", f.URL, forge.Admin, f.Password(forge.Admin))
	}
	if address, err := p.Prometheus(); err == nil {
		text += "export PROMETHEUS=" + address + "\n"
	}
	return os.WriteFile(p.EnvFile(), []byte(text), 0o600)
}

// Program is where a program of Argo CD is: argocd or kustomize.
func (p *Plane) Program(name string) string {
	part, err := p.part("argocd-server")
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(part.Argv[0]), name)
}

// moduleSource is the folder of a version's module.
func (p *Plane) moduleSource(ctx context.Context, module string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return source(root, module)
}

func secretValue(secret *unstructured.Unstructured, key string) []byte {
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", key)
	value, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	return value
}

// Example is the folder of the project's example infra repository.
func Example(ctx context.Context) (string, error) {
	root, err := Root(ctx)
	return filepath.Join(root, "testdata", "infra"), err
}
