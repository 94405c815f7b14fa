package promotetest

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops/gittest"
)

// Commits are all commits of a branch of a bare repository, parents before
// their children, or those that more arguments of git log leave.
func Commits(dir, branch string, more ...string) ([]Commit, error) {
	args := append([]string{"log", "--reverse", "--topo-order", "-z", "--format=%H%n%P%n%s%n%(trailers:only,unfold)", branch}, more...)
	out, err := gittest.Git(dir, nil, args...)
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for text := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		fields := strings.SplitN(text, "\n", 4)
		c := Commit{Hash: fields[0], Parents: strings.Fields(fields[1]), Subject: fields[2], Trailers: map[string]string{}}
		for line := range strings.Lines(fields[3]) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			c.Trailers[key] = value
		}
		if c.Files, err = Files(dir, c.Hash); err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// Files are all files of a commit.
func Files(dir, commit string) (fstest.MapFS, error) {
	archive, err := gittest.Git(dir, nil, "archive", "--format=tar", commit)
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for r := tar.NewReader(strings.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		var content bytes.Buffer
		if _, err := io.Copy(&content, r); err != nil {
			return nil, err
		}
		files[header.Name] = &fstest.MapFile{Data: content.Bytes(), Mode: 0o644}
	}
}
