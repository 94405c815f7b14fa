package promotetest

import (
	"strings"
	"testing/fstest"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// Commits are all commits of a branch of a bare repository, parents before
// their children, or those that more arguments of git log leave.
func Commits(dir, branch string, more ...string) ([]Commit, error) {
	args := append([]string{"log", "--reverse", "--topo-order", "-z", "--format=%H%n%P%n%s%n%(trailers:only,unfold)", branch}, more...)
	out, err := gittest.Git(dir, nil, args...)
	if err != nil {
		return nil, err
	}
	objects, err := gittest.OpenObjects(dir)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	var commits []Commit
	for text := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		fields := strings.SplitN(text, "\n", 4)
		c := Commit{Hash: fields[0], Parents: strings.Fields(fields[1]), Subject: fields[2]}
		c.say(fields[3])
		if c.Files, err = files(objects, c.Hash); err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// say gives a commit the trailers of a text. Each promotion begins with its own.
func (c *Commit) say(text string) {
	c.Trailers = map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if _, another := c.Trailers[key]; another && key == "Promotion" {
			c.Others, c.Trailers = append(c.Others, c.Trailers), map[string]string{}
		}
		c.Trailers[key] = value
	}
}

// Files are all files of a commit.
func Files(dir, commit string) (fstest.MapFS, error) {
	objects, err := gittest.OpenObjects(dir)
	if err != nil {
		return nil, err
	}
	defer objects.Close()
	return files(objects, commit)
}

func files(objects *gittest.Objects, commit string) (fstest.MapFS, error) {
	tree, err := objects.Read(commit + "^{tree}")
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	err = objects.Files(tree, "", func(name, content string) {
		files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	})
	return files, err
}
