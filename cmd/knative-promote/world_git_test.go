package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// aroundGit lets somebody else push first where a script wants that, and notes
// which revisions were ready when a commit came, and what was forced.
func (w *world) aroundGit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if w.readOnly && r.URL.Query().Get("service") == "git-receive-pack" {
			http.Error(out, "Write access to repository not granted.", http.StatusForbidden)
			return
		}
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			next.ServeHTTP(out, r)
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		push := isPush(r)
		if w.races > 0 && push {
			w.races--
			if err := w.commit("Change something else", map[string]string{fmt.Sprintf("other/%d", w.races): "of others\n"}); err != nil {
				http.Error(out, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		if before, some := w.before[w.pushes+1]; push && some {
			if err := w.commit(before.message, before.files); err != nil {
				http.Error(out, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.noteReady()
		if push {
			w.pushes++
			w.reached(fmt.Sprintf("push %d arrives", w.pushes))
		}
		answer := answerOf(r, next)
		if bytes.Contains(answer.body.Bytes(), []byte("non-fast-forward")) { // as git refuses it
			w.forced++
		}
		w.noteTips()
		if push {
			w.landed++
			w.reached(fmt.Sprintf("push %d is done", w.pushes))
		}
		answer.write(out, answer.body.Len())
	})
}

// noteTips notes what is ready when commits have come to any branch.
func (w *world) noteTips() {
	w.arrived(gittest.Tips(w.bare)...)
}

// arrived notes what is ready when commits come.
func (w *world) arrived(commits ...string) {
	for _, commit := range commits {
		if _, known := w.readyAt[commit]; !known {
			w.readyAt[commit], w.downAt[commit] = w.ready(), w.down()
		}
	}
}

// isPush tells whether a request brings commits. One of four bytes only asks
// for a login.
func isPush(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") && r.ContentLength != 4
}

// reached tells of a point at a server. The reply, and what is not done yet, is
// lost where that is wanted.
func (w *world) reached(point string) {
	if w.atPoint != nil && w.atPoint(point) {
		panic(http.ErrAbortHandler)
	}
}

// passes is reached for who does not hold the lock.
func (w *world) passes(point string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached(point)
}

// aroundHub tells of the first writing of a comment; how many follow depends
// on time.
func (w *world) aroundHub(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if change := w.changeOnForge(r); change != "" {
			w.passes("forge " + change + " arrives")
			answer := answerOf(r, next)
			w.passes("forge " + change + " is done")
			answer.write(out, answer.body.Len())
			return
		}
		if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/comments") {
			next.ServeHTTP(out, r)
			return
		}
		w.mu.Lock()
		w.written++
		first := w.written == 1
		w.mu.Unlock()
		if !first {
			next.ServeHTTP(out, r)
			return
		}
		w.passes("comment arrives")
		answer := answerOf(r, next)
		w.passes("comment is done")
		answer.write(out, answer.body.Len())
	})
}

// answering notes that a server is at work on a request.
func (w *world) answering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.atWork.RLock()
		defer w.atWork.RUnlock()
		next.ServeHTTP(out, r)
	})
}

// settle waits until the servers have done what a run that has ended asked them for:
// what arrives after the next run's first look is somebody else's for that.
func (w *world) settle() {
	w.atWork.Lock()
	defer w.atWork.Unlock()
}
