package gittest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Repository says how a new bare repository is made. The zero value has the
// branch main and allows what the large Git hosts allow.
type Repository struct {
	// Branch is the name of the first branch, main when empty.
	Branch string
	// NoFilter makes the server refuse partial clones.
	NoFilter bool
	// NoHashWants makes the server give objects out by the name of a branch only.
	NoHashWants bool
	// Hooks holds the server-side hooks: name (pre-receive, …) to shell script.
	Hooks map[string]string
}

// Init makes the bare repository root/name and commits content to its first
// branch; without content the repository stays empty. It returns the
// repository's folder.
func (r Repository) Init(root, name string, content fs.FS) (string, error) {
	dir := filepath.Join(root, filepath.FromSlash(name))
	if _, err := Git(root, nil, "init", "--quiet", "--bare", "--initial-branch="+r.branch(), dir); err != nil {
		return "", err
	}
	settings := [][2]string{
		{"uploadpack.allowFilter", fmt.Sprint(!r.NoFilter)},
		{"uploadpack.allowAnySHA1InWant", fmt.Sprint(!r.NoHashWants)},
		// GitHub takes no other filters than these.
		{"uploadpackfilter.allow", "false"},
		{"uploadpackfilter.blob:none.allow", "true"},
		{"uploadpackfilter.blob:limit.allow", "true"},
		{"uploadpackfilter.tree.allow", "true"},
		{"uploadpackfilter.tree.maxDepth", "0"},
		// A collection in the background would outlive the caller.
		{"receive.autogc", "false"},
		{"gc.auto", "0"},
	}
	for _, s := range settings {
		if _, err := Git(dir, nil, "config", s[0], s[1]); err != nil {
			return "", err
		}
	}
	if err := r.writeHooks(dir); err != nil {
		return "", err
	}
	if content == nil {
		return dir, nil
	}
	return dir, Commit(dir, r.branch(), "Start the infra repository", content)
}

func (r Repository) branch() string {
	if r.Branch == "" {
		return "main"
	}
	return r.Branch
}

func (r Repository) writeHooks(dir string) error {
	for name, script := range r.Hooks {
		path := filepath.Join(dir, "hooks", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("writing hook %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			return fmt.Errorf("writing hook %s: %w", name, err)
		}
	}
	return nil
}

// Commit adds a commit to a branch of the bare repository dir, as another
// author would by a push: the files of content are written, all others stay.
// An executable file keeps its bit and a symbolic link stays one.
func Commit(dir, branch, message string, content fs.FS) error {
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter Infra Team <infra@example.com> %d +0000\n", branch, time.Now().Unix())
	fmt.Fprintf(&stream, "data %d\n%s\n", len(message), message)
	if _, err := Git(dir, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err == nil {
		fmt.Fprintf(&stream, "from refs/heads/%s^0\n", branch)
	}
	err := fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return writeFile(&stream, content, name, entry)
	})
	if err != nil {
		return fmt.Errorf("reading the content of a commit: %w", err)
	}
	_, err = Git(dir, &stream, "fast-import", "--quiet")
	return err
}

func writeFile(stream *bytes.Buffer, content fs.FS, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	mode, data := "100644", []byte(nil)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		mode = "120000"
		target, err := fs.ReadLink(content, name)
		if err != nil {
			return err
		}
		data = []byte(target)
	case info.Mode()&0o111 != 0:
		mode = "100755"
		fallthrough
	default:
		if data, err = fs.ReadFile(content, name); err != nil {
			return err
		}
	}
	fmt.Fprintf(stream, "M %s inline %s\ndata %d\n%s\n", mode, quote(name), len(data), data)
	return nil
}

// quote writes a path as git fast-import reads it.
func quote(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// Git runs git in dir with the machine's configuration kept out, and returns
// what it prints without the last newline. The error carries git's own words.
func Git(dir string, stdin io.Reader, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environment()...)
	cmd.Stdin = stdin
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}
