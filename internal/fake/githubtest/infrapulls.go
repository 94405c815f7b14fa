package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// InfraPull is a pull request of the infra repository.
type InfraPull struct {
	Number   int
	Branch   string
	Title    string
	Body     string
	State    string // open or closed
	Merge    string // commit that it was merged as; empty: it is not merged
	Comments []string

	looks int // at it
	seen  diff
}

// A diff is what git says of merging a head into a branch. It is kept with the commits that it is of:
// who waits for a merge looks often, and asking git costs more than all else that an answer needs.
type diff struct {
	base, head string
	conflict   bool
}

// Review is what the rules of the infra repository's branch want of pull requests.
type Review struct {
	Method  string // how they are merged: squash (the default), merge, rebase
	Message string // that a person's merge has, in place of the one that was asked for
	Missing string // what a merge still needs, in GitHub's words; empty: nothing
	Looks   int    // at one until nothing is missing any more; 0: that does not come by itself
	Bypass  string // who may push past the rule that takes pull requests alone: always, never, pull_requests_only; empty: there is no such rule
}

// Pulls are all pull requests, the oldest first.
func (i *Infra) Pulls() []InfraPull {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []InfraPull
	for _, p := range i.pulls {
		all = append(all, *p)
	}
	return all
}

// Wants sets what a merge needs from now on.
func (i *Infra) Wants(review Review) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.review = review
}

// Merge merges a pull request, as a person does by the button.
func (i *Infra) Merge(number int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	p := i.pulls[number-1]
	return i.merge(p, i.review.Message, "Co-authored-by: Somebody <somebody@example.com>")
}

// Close closes one without merging it.
func (i *Infra) Close(number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.pulls[number-1].State = "closed"
}

// merge makes the commit that GitHub would.
func (i *Infra) merge(p *InfraPull, title, body string) error {
	tree, err := i.git("merge-tree", "--write-tree", "main", p.Branch)
	if err != nil {
		return fmt.Errorf("merging %s: %w", p.Branch, err)
	}
	args := []string{"-c", "user.name=GitHub", "-c", "user.email=noreply@github.com", "commit-tree", tree, "-p", "main", "-m", title, "-m", body}
	switch i.review.Method {
	case "merge":
		args = append(args, "-p", p.Branch)
	case "rebase":
		message, err := i.git("show", "-s", "--format=%B", p.Branch)
		if err != nil {
			return err
		}
		args = []string{"-c", "user.name=GitHub", "-c", "user.email=noreply@github.com", "commit-tree", tree, "-p", "main", "-m", message}
	}
	commit, err := i.git(args...)
	if err != nil {
		return err
	}
	if i.Merging != nil {
		i.Merging(commit)
	}
	_, err = i.git("update-ref", "refs/heads/main", commit)
	p.State, p.Merge = "closed", commit
	return err
}

func (i *Infra) git(args ...string) (string, error) {
	out, err := gittest.Git(i.Folder, nil, args...)
	return strings.TrimSpace(out), err
}

// routesOfPulls are what REST says of pull requests.
func (i *Infra) routesOfPulls(mux *http.ServeMux) {
	at := "/repos/" + i.Repository
	mux.HandleFunc("GET "+at+"/pulls", i.locked(i.listPulls))
	mux.HandleFunc("POST "+at+"/pulls", i.locked(i.openPull))
	mux.HandleFunc("GET "+at+"/pulls/{pull}", i.locked(i.onPull(func(p *InfraPull, _ map[string]string) { p.looks++ })))
	mux.HandleFunc("PATCH "+at+"/pulls/{pull}", i.locked(i.onPull(func(p *InfraPull, asked map[string]string) {
		p.State, p.Title, p.Body = cmp.Or(asked["state"], p.State), cmp.Or(asked["title"], p.Title), cmp.Or(asked["body"], p.Body)
	})))
	mux.HandleFunc("POST "+at+"/issues/{pull}/comments", i.locked(i.onPull(func(p *InfraPull, asked map[string]string) { p.Comments = append(p.Comments, asked["body"]) })))
	mux.HandleFunc("GET "+at+"/rules/branches/main", i.locked(i.rules))
	mux.HandleFunc("GET "+at+"/rulesets/7", i.locked(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"current_user_can_bypass": i.review.Bypass})
	}))
	mux.HandleFunc("DELETE "+at+"/git/refs/heads/{branch...}", i.locked(func(w http.ResponseWriter, r *http.Request) {
		_, _ = i.git("update-ref", "-d", "refs/heads/"+r.PathValue("branch"))
		w.WriteHeader(http.StatusNoContent)
	}))
}

func (i *Infra) rules(w http.ResponseWriter, _ *http.Request) {
	rules := []any{}
	if i.review.Bypass != "" {
		rules = append(rules, map[string]any{"type": "pull_request", "ruleset_id": 7}, map[string]any{"type": "merge_queue", "ruleset_id": 7})
	}
	answer(w, http.StatusOK, rules)
}

func (i *Infra) locked(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		next(w, r)
	}
}

func (i *Infra) listPulls(w http.ResponseWriter, r *http.Request) {
	shown := []any{}
	for _, p := range i.pulls {
		if p.State == "open" {
			shown = append(shown, i.view(p))
		}
	}
	answer(w, http.StatusOK, shown)
}

func (i *Infra) openPull(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Title, Body, Head, Base string }
	err := json.NewDecoder(r.Body).Decode(&asked)
	for _, p := range i.pulls {
		if p.State == "open" && p.Branch == asked.Head {
			Refuse(w, http.StatusUnprocessableEntity, "A pull request already exists for acme:"+asked.Head+".")
			return
		}
	}
	if err != nil || i.tip(asked.Head) == "" || asked.Base != "main" || len(asked.Body) > maxBody {
		Refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	p := &InfraPull{Number: len(i.pulls) + 1, Branch: asked.Head, Title: asked.Title, Body: asked.Body, State: "open"}
	i.pulls = append(i.pulls, p)
	answer(w, http.StatusCreated, i.view(p))
}

// onPull does something to a pull request, and shows it.
func (i *Infra) onPull(do func(p *InfraPull, asked map[string]string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.Atoi(r.PathValue("pull"))
		if err != nil || number < 1 || number > len(i.pulls) {
			Refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		asked := map[string]string{}
		if r.Method != http.MethodGet && json.NewDecoder(r.Body).Decode(&asked) != nil {
			Refuse(w, http.StatusBadRequest, "Problems parsing JSON")
			return
		}
		p := i.pulls[number-1]
		do(p, asked)
		answer(w, http.StatusOK, i.view(p))
	}
}

// missing is what a merge of a pull request still needs.
func (i *Infra) missing(p *InfraPull) string {
	if i.review.Looks > 0 && p.looks > i.review.Looks {
		return ""
	}
	return i.review.Missing
}

func (i *Infra) view(p *InfraPull) any {
	head := i.tip(p.Branch)
	i.compare(p, i.tip("main"), head)
	state := "clean"
	switch {
	case p.seen.conflict:
		state = "dirty"
	case i.missing(p) != "":
		state = "blocked"
	}
	repository := map[string]any{"full_name": i.Repository}
	return map[string]any{
		"number": p.Number, "node_id": fmt.Sprintf("PR_%d", p.Number), "html_url": fmt.Sprintf("https://github.example.com/%s/pull/%d", i.Repository, p.Number),
		"state": p.State, "merged": p.Merge != "", "merge_commit_sha": p.Merge, "mergeable_state": state,
		"head": map[string]any{"ref": p.Branch, "sha": head, "repo": repository}, "base": map[string]any{"ref": "main", "repo": repository},
	}
}

// compare asks git what merging head into base would do, where p was seen with others.
func (i *Infra) compare(p *InfraPull, base, head string) {
	if p.seen.base == base && p.seen.head == head {
		return
	}
	_, conflict := i.git("merge-tree", "--write-tree", base, head)
	p.seen = diff{base: base, head: head, conflict: conflict != nil}
}

// tip is the newest commit of a branch, empty where it is gone.
func (i *Infra) tip(branch string) string {
	tip, _ := gittest.Tip(i.Folder, branch)
	return tip
}
