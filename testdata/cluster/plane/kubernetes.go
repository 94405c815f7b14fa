package plane

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
)

// kubernetesPrograms need the version stamped in: Knative refuses an API
// server that does not know its own ("Version check failed").
func kubernetesPrograms() []program {
	const at = "k8s.io/component-base/version"
	version := strings.TrimPrefix(kubernetesModule, "kubernetes-")
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	stamp := fmt.Sprintf("-X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s -X %[1]s.gitCommit=0 -X %[1]s.gitTreeState=clean -X %[1]s.buildDate=2026-01-01T00:00:00Z",
		at, version, parts[0], parts[1])
	return []program{
		{Name: "etcd", Package: "go.etcd.io/etcd/server/v3"},
		{Name: "kube-apiserver", Package: "k8s.io/kubernetes/cmd/kube-apiserver", LDFlags: stamp},
		{Name: "kube-controller-manager", Package: "k8s.io/kubernetes/cmd/kube-controller-manager", LDFlags: stamp},
		{Name: "kubectl", Package: "k8s.io/kubernetes/cmd/kubectl", LDFlags: stamp},
	}
}

// adminToken is the static token of the only account, which may do everything.
// The API server listens on loopback alone and holds nothing of value.
const adminToken = "admin"

// servedAPIs are what Knative and Argo CD work with. Argo CD watches every kind
// there is, and reads all their schemas with each sync.
const servedAPIs = "api/all=false,v1=true,apps/v1=true,batch/v1=true,discovery.k8s.io/v1=true,networking.k8s.io/v1=true," +
	"admissionregistration.k8s.io/v1=true,apiextensions.k8s.io/v1=true,apiregistration.k8s.io/v1=true," +
	"authentication.k8s.io/v1=true,authorization.k8s.io/v1=true,rbac.authorization.k8s.io/v1=true," +
	"coordination.k8s.io/v1=true,autoscaling/v2=true"

// startKubernetes starts etcd, the API server and the controllers that Knative
// and Argo CD rest on. There are no nodes and no scheduler.
func (p *Plane) startKubernetes(ctx context.Context, programs Programs) error {
	if err := p.startEtcd(programs); err != nil {
		return err
	}
	if err := p.writeCredentials(); err != nil {
		return err
	}
	if err := p.run("kube-apiserver", nil, programs.path(kubernetesModule, "kube-apiserver"),
		"--etcd-servers=http://"+p.Address("etcd"), fmt.Sprintf("--secure-port=%d", p.Ports["kubernetes"]),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--cert-dir=certs", "--service-account-key-file=certs/sa.key", "--service-account-signing-key-file=certs/sa.key",
		"--service-account-issuer=https://kubernetes.default.svc", "--token-auth-file=certs/tokens.csv",
		"--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16",
		"--enable-priority-and-fairness=false", // everybody is the administrator
		"--runtime-config="+servedAPIs,
		// Pods would wait for a service account token that nobody mounts; the others ask for kinds that are not served.
		"--disable-admission-plugins=ServiceAccount,Priority,RuntimeClass,DefaultStorageClass,PersistentVolumeClaimResize,StorageObjectInUseProtection",
	); err != nil {
		return err
	}
	k, err := newKube(p.RESTConfig())
	if err != nil {
		return err
	}
	if err := p.until(ctx, "kube-apiserver", k.ready); err != nil {
		return err
	}
	return p.run("kube-controller-manager", nil, programs.path(kubernetesModule, "kube-controller-manager"),
		"--kubeconfig=kubeconfig", "--service-account-private-key-file=certs/sa.key", "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--controllers=deployment-controller,replicaset-controller,endpoints-controller,endpointslice-controller,"+
			"namespace-controller,serviceaccount-controller,garbage-collector-controller")
}

func (p *Plane) startEtcd(programs Programs) error {
	client, peer := "http://"+p.Address("etcd"), "http://"+p.Address("etcd-peer")
	return p.run("etcd", nil, programs.path(kubernetesModule, "etcd"), "--data-dir=etcd",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		"--unsafe-no-fsync")
}

// writeCredentials writes the service account key, the static token and the
// kubeconfig.
func (p *Plane) writeCredentials() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	var encoded bytes.Buffer
	if err := pem.Encode(&encoded, &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"certs/sa.key":     encoded.String(),
		"certs/tokens.csv": adminToken + `,admin,admin,"system:masters"` + "\n",
		"kubeconfig": fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: cluster, cluster: {server: "https://%s", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: %s}}]
contexts: [{name: cluster, context: {cluster: cluster, user: admin, namespace: argocd}}]
current-context: cluster
`, p.Address("kubernetes"), adminToken),
	} {
		if err := os.WriteFile(p.File(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// RESTConfig reaches the Kubernetes API as its administrator.
func (p *Plane) RESTConfig() *rest.Config {
	return &rest.Config{
		Host: "https://" + p.Address("kubernetes"), BearerToken: adminToken,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		QPS:             500, Burst: 1000,
		WarningHandler: rest.NoWarnings{},
	}
}
