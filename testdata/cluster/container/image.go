package container

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// imageName is what the built image is called.
const imageName = "localhost/knative-promote"

// An Image is a built image of the action.
type Image struct {
	Name   string
	Digest string // sha256:…
	Log    string // of its build
}

// Ref names the image by its digest, as the action of a release does.
func (i Image) Ref() string { return i.Name + "@" + i.Digest }

// Build builds the project's Dockerfile, as it is, from the sources as they
// are. The machine's own caches of Go make that quick.
func (e *Engine) Build(ctx context.Context, version string) (Image, error) {
	dockerfile, err := os.ReadFile(filepath.Join(e.root, "Dockerfile"))
	if err != nil {
		return Image{}, err
	}
	from, err := baseOf(string(dockerfile))
	if err != nil {
		return Image{}, err
	}
	args := []string{"build", "--isolation", "chroot", "--no-cache", "--tag", imageName,
		"--build-context", from + "=container-image://" + baseImage, "--build-arg", "VERSION=" + version}
	volumes, err := goFolders(ctx)
	if err != nil {
		return Image{}, err
	}
	for _, volume := range volumes {
		args = append(args, "--volume", volume)
	}
	log, err := e.command(ctx, "buildah", append(args, e.root)...)
	if err != nil {
		return Image{}, fmt.Errorf("building the action's image: %w", err)
	}
	digest, err := e.command(ctx, "podman", "image", "inspect", "--format", "{{.Digest}}", imageName)
	return Image{imageName, digest, log}, err
}

// baseOf is the image that a Dockerfile's first stage begins with.
func baseOf(dockerfile string) (string, error) {
	match := regexp.MustCompile(`(?m)^FROM (?:--\S+ )*(golang:\S+)`).FindStringSubmatch(dockerfile)
	if match == nil {
		return "", errors.New("the Dockerfile: expected a line FROM golang:…")
	}
	return match[1], nil
}

// goFolders mount this machine's Go and its caches where golang has them.
func goFolders(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("asking go for its folders: %w", err)
	}
	volumes := strings.Fields(string(out))
	for i, target := range []string{"/usr/local/go:ro", "/go/pkg/mod", "/root/.cache/go-build"} {
		volumes[i] += ":" + target
	}
	return volumes, nil
}

// Files are the image's files with their modes, such as "drwxrwxrwt tmp/".
func (e *Engine) Files(ctx context.Context, image Image) ([]string, error) {
	id, err := e.command(ctx, "podman", "create", image.Ref())
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "podman", "export", id)
	cmd.Env = e.environment()
	archive, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	files, err := list(archive)
	_, rest := io.Copy(io.Discard, archive)
	_, removed := e.command(ctx, "podman", "rm", id)
	return files, errors.Join(err, rest, cmd.Wait(), removed)
}

func list(archive io.Reader) ([]string, error) {
	var files []string
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files = append(files, header.FileInfo().Mode().String()+" "+header.Name)
	}
}
