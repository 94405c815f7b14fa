// Command below stands in for what a cluster has below Knative Serving's controllers: the kubelet, which gives pods
// their statuses; the ingress, a real HTTP data path that splits requests as the KIngresses say; and the admission
// webhook, which is Knative's own code.
//
//	below -cert FILE [-kubeconfig FILE] [-namespace knative-serving] [-admission ADDR] [-ingress ADDR] [-stats ADDR]
//
// The data path counts as the Envoy of Kourier does, at /stats/prometheus of the address -stats.
//
// It writes the CA of its admission endpoints, /mutate and /validate, to -cert once it serves, and their key beside it; it
// uses both again when it is started again. It logs the addresses it serves on to stderr. SIGTERM and SIGINT end it.
//
// # Rules
//
// An image's reference says how its container behaves. A rule is a word anywhere in the reference, not preceded by a
// letter: ghcr.io/acme/shop:v2-slow5-http500 is ready after five seconds, and then answers every request with status
// 500. N is a number from 1. The variable RULES of a container adds words, as configuration may be what is bad: of how its
// pod behaves. So does the annotation rules of a pod that runs, as of exit1: it ends when somebody says so. In a pod of several containers only the one with the rule is bad, and the pod with it.
//
// How pods behave, counted from when they are made, up to a second late and never early:
//
//	broken         the image cannot be pulled (ImagePullBackOff): never ready
//	unschedulable  no node takes the pod: never ready
//	exitN          ends with exit code N at once (CrashLoopBackOff): never ready
//	unready        runs, but its readiness probe never passes
//	slowN          becomes ready after N seconds
//	flapN          is ready, N seconds later unready for 5 seconds, then ready for good
//	crashN         is ready, N seconds later ends with exit code 1 (CrashLoopBackOff) for good
//	goneN          the image is in no registry any more since N, in seconds since 1970: pods made later cannot pull it
//
// How the container that takes requests, the one with ports, answers them:
//
//	httpNNN        every request with status NNN
//	failN          N percent of the requests with status 500
//	rareN          N of a thousand requests with status 500
//	overloadN      what comes after N requests within a second with status 500
//	lagN           after N milliseconds
//	leakN          each N milliseconds later than the one before
//	scoreN         with "score": N beside what all answers have
//
// The data path answers with {"revision": …, "image": …} of the revision that took the request; with status 503 if that
// revision has pods and none of them is ready, or has no pods and is not ready itself. A request to a revision that is
// scaled to zero waits until it has a ready pod, as in Knative's activator, and its answer has "waited": true.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

// options are what the command line says.
type options struct {
	kubeconfig, namespace, cert, admission, ingress, stats string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	log, err := newLogger()
	if err == nil {
		err = run(logging.WithLogger(ctx, log), parse())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "below:", err)
		os.Exit(1)
	}
}

func parse() options {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "the cluster's `FILE`; KUBECONFIG if not given")
	flag.StringVar(&o.namespace, "namespace", "knative-serving", "namespace of Knative's ConfigMaps")
	flag.StringVar(&o.cert, "cert", "", "`FILE` to write the admission CA to")
	flag.StringVar(&o.admission, "admission", "127.0.0.1:0", "`address` of the admission webhook")
	flag.StringVar(&o.ingress, "ingress", "127.0.0.1:0", "`address` of the data path")
	flag.StringVar(&o.stats, "stats", "127.0.0.1:0", "`address` of the data path's counters")
	flag.Parse()
	return o
}

func newLogger() (*zap.SugaredLogger, error) {
	config := zap.NewProductionConfig()
	config.DisableStacktrace = true
	config.DisableCaller = true
	log, err := config.Build()
	if err != nil {
		return nil, fmt.Errorf("starting the log: %w", err)
	}
	return log.Sugar(), nil
}

// run serves until the context ends.
func run(ctx context.Context, o options) error {
	if o.cert == "" {
		return errors.New("-cert is not given: expected a file to write the admission CA to")
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %q: %w", o.kubeconfig, err)
	}
	config.QPS, config.Burst = 1000, 2000 // One client writes the statuses of a whole cluster's pods.
	group, ctx := errgroup.WithContext(ctx)
	if err := startCluster(ctx, group, config, o); err != nil {
		return err
	}
	if err := startAdmission(ctx, group, config, o); err != nil {
		return err
	}
	return group.Wait()
}

// startCluster starts the kubelet, the ingress and the data path, when the informers know the cluster.
func startCluster(ctx context.Context, group *errgroup.Group, config *rest.Config, o options) error {
	cluster, err := watch(config)
	if err != nil {
		return err
	}
	routes := newRoutes()
	kubelet, err := newKubelet(ctx, cluster)
	if err != nil {
		return err
	}
	ingress, err := newIngress(ctx, cluster, routes)
	if err != nil {
		return err
	}
	if err := cluster.start(ctx); err != nil {
		return err
	}
	if err := register(ctx, cluster); err != nil {
		return err
	}
	group.Go(func() error { return controller.StartAll(ctx, kubelet, ingress) })
	path := &dataPath{routes: routes, backends: cluster}
	counters := http.NewServeMux()
	counters.Handle("GET /stats/prometheus", &path.stats)
	if err := serve(ctx, group, endpoint{name: "counters", address: o.stats, handler: counters}); err != nil {
		return err
	}
	return serve(ctx, group, endpoint{name: "ingress", address: o.ingress, handler: path})
}
