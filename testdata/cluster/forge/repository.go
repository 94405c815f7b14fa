package forge

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Branch is the first branch of every repository here.
const Branch = "main"

// A Repository is one repository of a Forge.
type Repository struct {
	Owner, Name string

	forge *Forge
}

// Repository makes a private repository with a first commit of the content.
func (f *Forge) Repository(ctx context.Context, owner, name string, content fs.FS) (*Repository, error) {
	err := f.call(ctx, Admin, http.MethodPost, "/admin/users/"+url.PathEscape(owner)+"/repos", map[string]any{
		"name": name, "private": true, "default_branch": Branch,
	}, nil)
	if err != nil {
		return nil, err
	}
	r := &Repository{Owner: owner, Name: name, forge: f}
	files, err := read(content)
	if err != nil || len(files) == 0 {
		return r, err
	}
	_, err = r.Commit(ctx, owner, Branch, "Start the repository", files)
	return r, err
}

// read reads all files.
func read(content fs.FS) (map[string]string, error) {
	files := map[string]string{}
	if content == nil {
		return files, nil
	}
	err := fs.WalkDir(content, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(content, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading a repository's first content: %w", err)
	}
	return files, nil
}

// FullName is owner/name, as GitHub's API and workflows call a repository.
func (r *Repository) FullName() string { return r.Owner + "/" + r.Name }

// URL is where git fetches from and pushes to.
func (r *Repository) URL() string { return r.forge.URL + "/" + r.FullName() + ".git" }

// Folder is the bare repository on disk.
func (r *Repository) Folder() string {
	return filepath.Join(r.forge.dir, "repositories", strings.ToLower(r.Owner), strings.ToLower(r.Name)+".git")
}

func (r *Repository) path(format string, args ...any) string {
	return "/repos/" + r.FullName() + fmt.Sprintf(format, args...)
}

// Commit commits files as an account, which must be allowed to.
func (r *Repository) Commit(ctx context.Context, as, branch, message string, files map[string]string) (hash string, err error) {
	return r.commit(ctx, as, map[string]any{"branch": branch, "message": message}, files)
}

// BranchOff commits files to a new branch that starts at Branch.
func (r *Repository) BranchOff(ctx context.Context, as, branch, message string, files map[string]string) (hash string, err error) {
	return r.commit(ctx, as, map[string]any{"branch": Branch, "new_branch": branch, "message": message}, files)
}

func (r *Repository) commit(ctx context.Context, as string, request map[string]any, files map[string]string) (string, error) {
	var changes []map[string]string
	for name, text := range files {
		changes = append(changes, map[string]string{
			"operation": "upload", "path": name, "content": base64.StdEncoding.EncodeToString([]byte(text)),
		})
	}
	request["files"] = changes
	var made struct{ Commit struct{ SHA string } }
	err := r.forge.call(ctx, as, http.MethodPost, r.path("/contents"), request, &made)
	return made.Commit.SHA, err
}

// Collaborator gives an account a permission: read, write or admin.
func (r *Repository) Collaborator(ctx context.Context, user, permission string) error {
	return r.forge.call(ctx, Admin, http.MethodPut, r.path("/collaborators/%s", url.PathEscape(user)), map[string]string{"permission": permission}, nil)
}

// Protection is a rule for a branch.
type Protection struct {
	Push      bool     // whoever may write may push
	Pusher    string   // who alone may push, where not everybody may; empty: nobody
	Files     string   // patterns of files that nobody may change, joined by semicolons
	Approvals int      // that a pull request needs
	Statuses  []string // that a pull request's head needs
	Signed    bool     // commits must be signed, merges too
	Current   bool     // a pull request must stand on the branch's tip
}

// Protect protects a branch. A rule that there is already is replaced.
func (r *Repository) Protect(ctx context.Context, branch string, p Protection) error {
	if err := r.Unprotect(ctx, branch); err != nil && !isNotFound(err) {
		return err
	}
	var pushers []string
	if p.Pusher != "" {
		pushers = []string{p.Pusher}
	}
	return r.forge.call(ctx, Admin, http.MethodPost, r.path("/branch_protections"), map[string]any{
		"rule_name": branch, "enable_push": p.Push || p.Pusher != "", "protected_file_patterns": p.Files,
		"enable_push_whitelist": p.Pusher != "", "push_whitelist_usernames": pushers,
		"required_approvals": p.Approvals, "enable_status_check": len(p.Statuses) > 0, "status_check_contexts": p.Statuses,
		"require_signed_commits": p.Signed, "block_on_outdated_branch": p.Current,
	}, nil)
}

// Unprotect takes a branch's rule away.
func (r *Repository) Unprotect(ctx context.Context, branch string) error {
	return r.forge.call(ctx, Admin, http.MethodDelete, r.path("/branch_protections/%s", url.PathEscape(branch)), nil, nil)
}

// MergesBy leaves one of the ways merge, squash, rebase and fast-forward-only to merge.
func (r *Repository) MergesBy(ctx context.Context, way string) error {
	return r.forge.call(ctx, Admin, http.MethodPatch, r.path(""), map[string]any{
		"has_pull_requests": true, "allow_merge_commits": way == "merge", "allow_squash_merge": way == "squash", "allow_rebase": way == "rebase",
		"allow_rebase_explicit": false, "allow_fast_forward_only_merge": way == "fast-forward-only", "default_merge_style": way,
	}, nil)
}

// Status sets a commit status.
func (r *Repository) Status(ctx context.Context, as, commit, name, state string) error {
	return r.forge.call(ctx, as, http.MethodPost, r.path("/statuses/%s", commit), map[string]string{"context": name, "state": state}, nil)
}

// Archive makes the repository read-only, or writable again.
func (r *Repository) Archive(ctx context.Context, archived bool) error {
	return r.forge.call(ctx, Admin, http.MethodPatch, r.path(""), map[string]bool{"archived": archived}, nil)
}

// Rename gives the repository another name. Gitea redirects from the old one.
func (r *Repository) Rename(ctx context.Context, name string) error {
	err := r.forge.call(ctx, Admin, http.MethodPatch, r.path(""), map[string]string{"name": name}, nil)
	if err == nil {
		r.Name = name
	}
	return err
}

// Hook sets a script that runs in one of the repository's hooks, such as
// pre-receive, beside Gitea's own; an empty one takes it away. What it prints
// is what git shows after "remote:", and $GITEA_PUSHER_NAME is who pushes.
func (r *Repository) Hook(hook, script string) error {
	file := filepath.Join(r.Folder(), "hooks", hook+".d", "ours")
	err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755)
	if script == "" {
		err = os.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("setting a hook of %s: %w", r.FullName(), err)
	}
	return nil
}

// NoPartialClone makes the repository give out no single folders and files, as
// all of Gitea does with DISABLE_PARTIAL_CLONE.
func (r *Repository) NoPartialClone() error {
	file, err := os.OpenFile(filepath.Join(r.Folder(), "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("switching partial clones of %s off: %w", r.FullName(), err)
	}
	defer file.Close()
	if _, err := file.WriteString("[uploadpack]\n\tallowFilter = false\n\tallowAnySHA1InWant = false\n"); err != nil {
		return fmt.Errorf("switching partial clones of %s off: %w", r.FullName(), err)
	}
	return nil
}

// A CommitStatus is one that somebody has set.
type CommitStatus struct {
	Context, Description string
	State                string `json:"status"`
}

// Statuses are all that were set of a commit.
func (r *Repository) Statuses(ctx context.Context, commit string) ([]CommitStatus, error) {
	var all []CommitStatus
	err := r.forge.call(ctx, Admin, http.MethodGet, r.path("/commits/%s/statuses", commit), nil, &all)
	return all, err
}
