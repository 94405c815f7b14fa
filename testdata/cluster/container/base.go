package container

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

const (
	baseImage    = "localhost/base"
	certificates = "/etc/ssl/certs/ca-certificates.crt"
)

// makeBase makes the image that stands in for the one that the Dockerfile
// begins with, golang: what RUN lines may call, out of this machine's own
// programs. Go itself is mounted when the Dockerfile is built.
func (e *Engine) makeBase(ctx context.Context) error {
	for _, program := range []string{"sh", "env", "install", "mkdir", "cp", "mv", "rm", "ln", "cat", "chmod", "test", "true"} {
		if err := e.addProgram(ctx, program); err != nil {
			return fmt.Errorf("making the base image: %w", err)
		}
	}
	if err := e.addFile(certificates, certificates); err != nil {
		return fmt.Errorf("making the base image: %w", err)
	}
	if err := os.Mkdir(e.file("base/tmp"), 0o755); err != nil {
		return err
	}
	// As in https://github.com/docker-library/golang.
	dockerfile := "FROM scratch\nCOPY . /\nENV GOTOOLCHAIN=local GOPATH=/go PATH=/usr/local/go/bin:/bin HOME=/root\nWORKDIR /go\n"
	if err := os.WriteFile(e.file("Dockerfile"), []byte(dockerfile), 0o644); err != nil {
		return err
	}
	_, err := e.command(ctx, "buildah", "build", "--isolation", "chroot", "--tag", baseImage, "--file", e.file("Dockerfile"), e.file("base"))
	return err
}

// addProgram puts a program and its libraries into the base image.
func (e *Engine) addProgram(ctx context.Context, name string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	// ldd ends with 1 for a program without libraries.
	libraries, _ := exec.CommandContext(ctx, "ldd", path).Output()
	for _, library := range librariesOf(string(libraries)) {
		if err := e.addFile(library, library); err != nil {
			return err
		}
	}
	return e.addFile(path, "/bin/"+name)
}

// librariesOf are the files that ldd names, where the program expects them.
func librariesOf(ldd string) []string {
	var files []string
	for _, match := range regexp.MustCompile(`(?m)(/\S+) \(0x[0-9a-f]+\)$`).FindAllStringSubmatch(ldd, -1) {
		files = append(files, match[1])
	}
	return files
}

// addFile puts a file of this machine into the base image.
func (e *Engine) addFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	file := e.file("base", to)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, info.Mode().Perm())
}
