package container

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Release makes the release of an image as the project's release workflow
// does, by the script of that workflow itself, and returns the folder that
// `uses: acme/knative-promote@v1` stands for then.
func (e *Engine) Release(ctx context.Context, image Image, version string) (string, error) {
	script, err := e.releaseScript("Commit the digest and tag the release")
	if err != nil {
		return "", err
	}
	action, err := os.ReadFile(filepath.Join(e.root, "action.yml"))
	if err != nil {
		return "", err
	}
	origin, source, released := e.file("origin.git"), e.file("source"), e.file("released")
	if err := e.git(ctx, e.dir, "init", "--quiet", "--bare", origin); err != nil {
		return "", err
	}
	if err := e.git(ctx, e.dir, "clone", "--quiet", origin, source); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(source, "action.yml"), action, 0o644); err != nil {
		return "", err
	}
	if err := e.git(ctx, source, "add", "."); err != nil {
		return "", err
	}
	if err := e.git(ctx, source, "-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "--quiet", "--message=Source"); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = source, append(gitEnvironment(), "IMAGE="+image.Name, "DIGEST="+image.Digest, "VERSION="+version)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("running the release script: %w\n%s", err, out)
	}
	return released, e.git(ctx, e.dir, "clone", "--quiet", "--branch=v1", origin, released)
}

// releaseScript is what a step of the job `release` runs.
func (e *Engine) releaseScript(step string) (string, error) {
	text, err := os.ReadFile(filepath.Join(e.root, ".github/workflows/release.yml"))
	if err != nil {
		return "", err
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		return "", fmt.Errorf("reading the release workflow: %w", err)
	}
	for _, s := range workflow.Jobs["release"].Steps {
		if s.Name == step && s.Run != "" {
			return s.Run, nil
		}
	}
	return "", fmt.Errorf("the release workflow has no step %q", step)
}

func (e *Engine) git(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, gitEnvironment()
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", args[0], err, log.String())
	}
	return nil
}

// gitEnvironment keeps the machine's own configuration of git out.
func gitEnvironment() []string {
	return append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0")
}
