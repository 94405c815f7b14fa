package kustomize

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/acme/knative-promote/internal/httpx"
)

// Limits on a process that renders.
const (
	// MostMemory is how many bytes its heap may take, with what is not used any more and not yet collected.
	MostMemory = 2 << 30

	mostStack = 256 << 20
	mostIdle  = time.Minute
)

// Serve renders for the process that has called [Apart], from its input and to its output, until there is no more or for a
// minute nothing to do. It takes the whole process for itself: it sends nothing over HTTP, and exits also in the middle of a
// render, where its input ends or its heap takes more than so many bytes.
func Serve(in io.Reader, out io.Writer, mostMemory int64, exit func(code int)) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // the other process gets them too, and may have something to restore
	httpx.RefuseOthers()
	bound(mostMemory, exit)
	if nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = nowhere // kustomize warns there of deprecated fields, anew with every render
	}
	to, from, idle := gob.NewEncoder(out), gob.NewDecoder(watched(in, exit)), time.AfterFunc(mostIdle, func() { exit(0) })
	for {
		var t task
		if err := from.Decode(&t); err != nil {
			return
		}
		idle.Stop()
		if err := to.Encode(t.do(asking{to: to, from: from, known: t.known()})); err != nil {
			return
		}
		idle.Reset(mostIdle)
	}
}

func (t task) known() map[question]answer {
	known := map[question]answer{}
	for i, q := range t.Questions {
		known[q] = t.Answers[i]
	}
	return known
}

// do renders. A panic is an error of the input.
func (t task) do(tree asking) (m message) {
	defer func() {
		if p := recover(); p != nil {
			m = message{Failed: fmt.Sprintf("kustomize failed on this input: %v", p)}
		}
	}()
	b, err := (&confined{ctx: context.Background(), tree: tree, files: map[string][]byte{}}).build(t.Dir, t.Schema)
	if err != nil {
		return message{Failed: err.Error()}
	}
	return message{Built: &b}
}

// bound exits where the process takes too much memory.
func bound(heap int64, exit func(int)) {
	debug.SetMaxStack(mostStack)
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	stderr := os.Stderr
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			if metrics.Read(sample); sample[0].Value.Uint64() > uint64(heap) {
				fmt.Fprintf(stderr, "it takes more than %d MiB of memory\n", heap>>20)
				exit(1)
			}
		}
	}()
}

// watched is an input at whose end the process exits, also while it renders.
func watched(in io.Reader, exit func(int)) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, _ = io.Copy(w, in)
		exit(0)
	}()
	return r
}

// asking is the tree of the process that is rendered for.
type asking struct {
	to    *gob.Encoder
	from  *gob.Decoder
	known map[question]answer
}

func (a asking) ask(what byte, name string) (is answer, err error) {
	q := question{what, name}
	is, known := a.known[q]
	if !known {
		if err = a.to.Encode(message{Question: q}); err == nil {
			err = a.from.Decode(&is)
		}
	}
	switch {
	case err != nil:
	case is.Fault != "":
		err = errors.New(is.Fault)
	case !is.There:
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return is, err
}

// Lstat describes an entry of the tree.
func (a asking) Lstat(name string) (fs.FileInfo, error) {
	is, err := a.ask(aboutEntry, name)
	return told{name, is}, err
}

// ReadLink returns the target of a link of the tree.
func (a asking) ReadLink(name string) (string, error) {
	is, err := a.ask(aboutLink, name)
	return is.Text, err
}

// ReadFile returns the content of a file of the tree.
func (a asking) ReadFile(name string) ([]byte, error) {
	is, err := a.ask(aboutFile, name)
	return []byte(is.Text), err
}

// Open is not needed: a render reads whole files.
func (a asking) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}

// told is an entry as an answer describes it.
type told struct {
	name string
	is   answer
}

func (t told) Name() string       { return path.Base(t.name) }
func (t told) Size() int64        { return t.is.Size }
func (t told) Mode() fs.FileMode  { return t.is.Mode }
func (t told) ModTime() time.Time { return time.Time{} }
func (t told) IsDir() bool        { return t.is.Mode.IsDir() }
func (t told) Sys() any           { return nil }
