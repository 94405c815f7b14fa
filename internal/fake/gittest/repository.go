package gittest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
	// FastForward makes the server refuse what is not a descendant of what it replaces, but on
	// the branches of pull requests, which begin with promote-.
	FastForward bool
	// Hooks holds the server-side hooks: name (pre-receive, …) to shell script.
	Hooks map[string]string
}

// Init makes the bare repository root/name and commits content to its first
// branch; without content the repository stays empty. It returns the
// repository's folder.
func (r Repository) Init(root, name string, content fs.FS) (string, error) {
	dir := filepath.Join(root, filepath.FromSlash(name))
	if _, err := Git(root, nil, "init", "--quiet", "--bare", "--template=", "--initial-branch="+r.branch(), dir); err != nil {
		return "", err
	}
	if err := errors.Join(r.configure(dir), r.writeHooks(dir)); err != nil {
		return "", err
	}
	if content == nil {
		return dir, nil
	}
	return dir, Commit(dir, r.branch(), "Start the infra repository", content)
}

// configure adds to what git init has written. GitHub takes no other filters than
// these, and a collection in the background would outlive the caller.
func (r Repository) configure(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "config"), os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("configuring a repository: %w", err)
	}
	_, err = fmt.Fprintf(f, `[uploadpack]
	allowFilter = %t
	allowAnySHA1InWant = %t
[uploadpackfilter]
	allow = false
[uploadpackfilter "blob:none"]
	allow = true
[uploadpackfilter "blob:limit"]
	allow = true
[uploadpackfilter "tree"]
	allow = true
	maxDepth = 0
[receive]
	autogc = false
[gc]
	auto = 0
`, !r.NoFilter, !r.NoHashWants)
	return errors.Join(err, f.Close())
}

func (r Repository) branch() string {
	if r.Branch == "" {
		return "main"
	}
	return r.Branch
}

// onlyForward is receive.denyNonFastForwards for all branches but those of pull requests.
const onlyForward = `case $1 in refs/heads/promote-*) exit 0;; esac
case $2$3 in *0000000000000000000000000000000000000000*) exit 0;; esac
git merge-base --is-ancestor $2 $3 || { echo non-fast-forward >&2; exit 1; }`

func (r Repository) writeHooks(dir string) error {
	hooks := map[string]string{}
	if r.FastForward {
		hooks["update"] = onlyForward
	}
	maps.Copy(hooks, r.Hooks)
	for name, script := range hooks {
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
	if _, err := Tip(dir, branch); err == nil {
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

// Tip is the newest commit of a branch of the bare repository dir.
func Tip(dir, branch string) (string, error) {
	name := "refs/heads/" + branch
	// Git writes a branch's file whole, and a process to ask for it costs more than all else.
	if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if _, err := os.Stat(filepath.Join(dir, "packed-refs")); err != nil {
		return "", fmt.Errorf("no branch %s: %w", branch, fs.ErrNotExist)
	}
	return Git(dir, nil, "rev-parse", "--verify", "--quiet", name)
}

// Tips are the newest commits of all branches of the bare repository dir that Git
// has not packed, as it has none that got a commit lately.
func Tips(dir string) []string {
	var tips []string
	_ = fs.WalkDir(os.DirFS(dir), "refs/heads", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".lock") {
			return nil // deleted meanwhile, or being written
		}
		if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			tips = append(tips, strings.TrimSpace(string(text)))
		}
		return nil
	})
	return tips
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
