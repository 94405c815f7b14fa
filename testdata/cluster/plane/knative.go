package plane

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func knativePrograms() []program {
	return []program{
		{Name: "knative-controller", Package: "knative.dev/serving/cmd/controller"},
		{Name: "knative-autoscaler", Package: "./autoscaler", Overlay: autoscalerSource},
		{Name: "below", Package: "cluster/below"},
	}
}

// autoscalerSource makes a folder of the autoscaler's command that listens on
// a free port. Upstream it is the constant :8080, on which only one can run
// (https://github.com/knative/serving/blob/knative-v1.15.2/cmd/autoscaler/main.go#L65).
func autoscalerSource(ctx context.Context, dir, scratch string) (string, error) {
	serving, err := moduleDir(ctx, dir, "knative.dev/serving")
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(serving, "cmd/autoscaler/*.go"))
	if err != nil {
		return "", err
	}
	const upstream, ours = `statsServerAddr = ":8080"`, `statsServerAddr = "127.0.0.1:0"`
	replace, found := map[string]string{}, false
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		found = found || strings.Contains(string(content), upstream)
		copied := filepath.Join(scratch, filepath.Base(file))
		if err := os.WriteFile(copied, []byte(strings.ReplaceAll(string(content), upstream, ours)), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(dir, "autoscaler", filepath.Base(file))] = copied
	}
	if !found {
		return "", fmt.Errorf("the autoscaler of %s has no %s", serving, upstream)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(scratch, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o644)
}

// startKnative installs Knative Serving's kinds and configuration, then runs
// what stands in for kubelet, ingress and webhooks, and Knative's controllers.
func (p *Plane) startKnative(ctx context.Context, k *Kube, programs Programs) error {
	if err := p.installKnative(ctx, k); err != nil {
		return fmt.Errorf("installing Knative: %w", err)
	}
	module := p.Versions.knative()
	certificate := p.File("certs", "admission.pem")
	if err := p.run("below", nil, programs.path(module, "below"), "-kubeconfig", p.Kubeconfig(),
		"-cert", certificate, "-admission", p.Address("admission"), "-ingress", p.Address("ingress"), "-stats", p.Address("stats")); err != nil {
		return err
	}
	if err := p.until(ctx, "below", func(context.Context) error { return notEmpty(certificate) }); err != nil {
		return err
	}
	if err := p.registerWebhooks(ctx, k, certificate); err != nil {
		return fmt.Errorf("registering Knative's webhooks: %w", err)
	}
	for _, name := range []string{"knative-controller", "knative-autoscaler"} {
		if err := p.run(name, p.knativeEnv(name), programs.path(module, name), "--kubeconfig="+p.Kubeconfig(),
			"--kube-api-qps=500", "--kube-api-burst=1000"); err != nil {
			return err
		}
	}
	return nil
}

func notEmpty(file string) error {
	content, err := os.ReadFile(file)
	if err == nil && len(content) == 0 {
		err = errors.New("still empty: " + file)
	}
	return err
}

// knativeEnv is what a pod of Knative has in its environment. The address is
// written into an Endpoints object, which refuses those of the loopback interface.
func (p *Plane) knativeEnv(name string) []string {
	return []string{
		"SYSTEM_NAMESPACE=knative-serving", "CONFIG_LOGGING_NAME=config-logging", "CONFIG_OBSERVABILITY_NAME=config-observability",
		"METRICS_DOMAIN=knative.dev/internal/serving", "POD_NAME=" + name, "POD_IP=10.255.0.1",
		fmt.Sprintf("METRICS_PROMETHEUS_PORT=%d", p.Ports[name+"-metrics"]), fmt.Sprintf("PROFILING_PORT=%d", p.Ports[name+"-profiling"]),
	}
}

// installKnative applies what Knative's own release has in its YAML, as far as
// it is no Deployment.
func (p *Plane) installKnative(ctx context.Context, k *Kube) error {
	dir, err := p.moduleSource(ctx, p.Versions.knative())
	if err != nil {
		return err
	}
	var dirs [3]string
	for i, module := range []string{"knative.dev/serving", "knative.dev/networking", "knative.dev/caching"} {
		if dirs[i], err = moduleDir(ctx, dir, module); err != nil {
			return err
		}
	}
	if err := k.Namespace(ctx, "knative-serving"); err != nil {
		return err
	}
	patterns := []string{dirs[0] + "/config/core/300-resources/*.yaml"}
	for _, kind := range []string{"certificate", "domain-claim", "ingress", "serverlessservice", "config-network"} {
		patterns = append(patterns, dirs[1]+"/config/"+kind+".yaml")
	}
	patterns = append(patterns, dirs[2]+"/config/image.yaml", dirs[0]+"/config/core/configmaps/*.yaml")
	if err := k.ApplyFiles(ctx, patterns...); err != nil {
		return err
	}
	return k.By("settings").Apply(ctx, []byte(knativeSettings))
}

// knativeSettings: images come from registries that nobody asks, what is not
// ready after 20 s is given up (600 s is Knative's default, too long for tests),
// a Service may ask to begin without pods, and the activator, which does not
// run, has an address.
const knativeSettings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: config-deployment, namespace: knative-serving}
data:
  queue-sidecar-image: ko.local/queue:1
  registries-skipping-tag-resolving: ghcr.io,ko.local,registry.test
  progress-deadline: 20s
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config-autoscaler, namespace: knative-serving}
data: {allow-zero-initial-scale: "true"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config-domain, namespace: knative-serving}
data: {example.test: ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config-network, namespace: knative-serving}
data: {ingress-class: stub.ingress.networking.knative.dev}
---
apiVersion: v1
kind: Service
metadata: {name: activator-service, namespace: knative-serving}
spec: {ports: [{name: http, port: 80, targetPort: 8012}, {name: http2, port: 81, targetPort: 8013}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: activator-service, namespace: knative-serving}
subsets: [{addresses: [{ip: 10.255.0.3}], ports: [{name: http, port: 8012}, {name: http2, port: 8013}]}]
---
apiVersion: v1
kind: Service
metadata: {name: autoscaler, namespace: knative-serving}
spec: {ports: [{name: http, port: 8080}]}
`

// registerWebhooks has the API server ask for admission by URL; Knative's own
// process would need a Service inside the cluster.
func (p *Plane) registerWebhooks(ctx context.Context, k *Kube, certificate string) error {
	ca, err := os.ReadFile(certificate)
	if err != nil {
		return err
	}
	kinds := []string{
		"services", "configurations", "revisions", "routes", "domainmappings",
		"podautoscalers", "metrics", "ingresses", "certificates", "serverlessservices",
	}
	for _, kind := range kinds {
		kinds = append(kinds, kind+"/status")
	}
	const webhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: %[1]s
metadata: {name: %[2]s}
webhooks:
  - name: %[2]s
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {url: "https://%[3]s/%[4]s", caBundle: %[5]s}
    rules:
      - apiGroups: [serving.knative.dev, autoscaling.internal.knative.dev, networking.internal.knative.dev]
        apiVersions: ["*"]
        operations: [%[7]s]
        resources: [%[6]s]
---`
	encoded, list := base64.StdEncoding.EncodeToString(ca), strings.Join(kinds, ", ")
	return k.Apply(ctx, []byte(fmt.Sprintf(webhook, "MutatingWebhookConfiguration", "webhook.serving.knative.dev", p.Address("admission"), "mutate", encoded, list, "CREATE, UPDATE")+
		fmt.Sprintf(webhook, "ValidatingWebhookConfiguration", "validation.webhook.serving.knative.dev", p.Address("admission"), "validate", encoded, list, "CREATE, UPDATE, DELETE")))
}
