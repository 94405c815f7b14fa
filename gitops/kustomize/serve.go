package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/acme/knative-promote/internal/apart"
)

// serve renders what the other side of a Conn asks for.
func serve(c *apart.Conn) error {
	var t task
	if err := c.Receive(&t); err != nil {
		return err
	}
	return c.Send(t.do(asking{c, t.known()}))
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

// asking is the tree of the process that is rendered for.
type asking struct {
	*apart.Conn
	known map[question]answer
}

func (a asking) ask(what byte, name string) (is answer, err error) {
	q := question{what, name}
	is, known := a.known[q]
	if !known {
		if err = a.Send(message{Question: q}); err == nil {
			err = a.Receive(&is)
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
