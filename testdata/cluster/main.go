// Command cluster runs Argo CD and Knative Serving on this machine, to try
// knative-promote on and to test it with.
//
//	go run -C testdata/cluster . up [-name NAME] [-argocd VERSION] [-knative VERSION] [-forge] [-prometheus]
//	go run -C testdata/cluster . build              what up builds when it runs for the first time
//	go run -C testdata/cluster . seed               the example infra repository, deployed by Argo CD
//	go run -C testdata/cluster . env                shell variables with every address and token
//	go run -C testdata/cluster . status             what runs, where, and its log
//	go run -C testdata/cluster . stop|start PART    one process, such as argocd-server
//	go run -C testdata/cluster . down
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/acme/knative-promote/testdata/cluster/plane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// run does what the first argument says.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("expected a command: %s", commands)
	}
	command := args[0]
	switch command { // what the control plane itself is made of
	case "git":
		return serveGit(ctx, args[1:])
	case "record":
		return record(ctx, args[1:])
	case "redis":
		return serveRedis(ctx, args[1:])
	}
	o := plane.Options{Progress: os.Stderr}
	flags := flag.NewFlagSet("cluster "+command, flag.ContinueOnError)
	flags.StringVar(&o.Name, "name", "default", "name of the control plane; several run side by side")
	flags.StringVar(&o.Home, "home", "", "folder of programs and state (default: below the user's cache folder)")
	flags.StringVar(&o.Versions.ArgoCD, "argocd", plane.DefaultVersions.ArgoCD, "version of Argo CD")
	flags.StringVar(&o.Versions.Knative, "knative", plane.DefaultVersions.Knative, "version of Knative Serving")
	flags.BoolVar(&o.Forge, "forge", false, "run Gitea too")
	flags.BoolVar(&o.Prometheus, "prometheus", false, "run a Prometheus too, which scrapes the data path")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	return do(ctx, command, o, flags.Args())
}

const commands = "up, build, seed, env, status, stop, start or down"

func do(ctx context.Context, command string, o plane.Options, args []string) error {
	switch command {
	case "up":
		p, err := plane.Up(ctx, o)
		if err != nil {
			return err
		}
		fmt.Printf("source %s\n", p.EnvFile())
		return nil
	case "build":
		_, err := plane.Build(ctx, o)
		return err
	}
	act, known := map[string]func(*plane.Plane) error{
		"seed":   func(p *plane.Plane) error { return seed(ctx, p) },
		"env":    printEnv,
		"status": status,
		"stop":   func(p *plane.Plane) error { return turn(p.Stop, args) },
		"start":  func(p *plane.Plane) error { return turn(p.Start, args) },
		"down":   down,
	}[command]
	if !known {
		return fmt.Errorf("command %q: expected %s", command, commands)
	}
	p, err := plane.Open(o)
	if err != nil {
		return err
	}
	return act(p)
}

func printEnv(p *plane.Plane) error {
	content, err := os.ReadFile(p.EnvFile())
	fmt.Print(string(content))
	return err
}

func down(p *plane.Plane) error {
	p.Down()
	return nil
}

// turn stops or starts parts.
func turn(change func(string) error, names []string) error {
	for _, name := range names {
		if err := change(name); err != nil {
			return err
		}
	}
	return nil
}

func status(p *plane.Plane) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(table, "Argo CD %s, Knative %s\n", p.Versions.ArgoCD, p.Versions.Knative)
	for _, part := range p.Parts {
		state := "ended"
		if part.Running() {
			state = "running"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", part.Name, state, p.File("log", part.Name+".log"))
	}
	for name, port := range p.Ports {
		if !strings.HasSuffix(name, "-metrics") && !strings.HasSuffix(name, "-profiling") {
			fmt.Fprintf(table, "%s\t127.0.0.1:%d\n", name, port)
		}
	}
	return table.Flush()
}
