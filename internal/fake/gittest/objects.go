package gittest

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing/fstest"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Tree are the files of a commit of the bare repository dir, read without a process.
func Tree(dir, commit string) (fs.FS, error) {
	repository, err := git.PlainOpen(dir)
	if err != nil {
		return nil, err
	}
	made, err := repository.CommitObject(plumbing.NewHash(commit))
	if err != nil {
		return nil, err
	}
	read := objectsOnce{repository.Storer, map[plumbing.Hash]*object.Tree{}, map[plumbing.Hash][]byte{}}
	files := fstest.MapFS{}
	return files, read.into(files, "", made.TreeHash)
}

// objectsOnce keeps what it has read: a folder may be in a tree thousands of times, and go-git opens its file each time.
type objectsOnce struct {
	from  storer.EncodedObjectStorer
	trees map[plumbing.Hash]*object.Tree
	blobs map[plumbing.Hash][]byte
}

func (o objectsOnce) into(files fstest.MapFS, folder string, hash plumbing.Hash) error {
	tree, err := once(o.trees, hash, func() (*object.Tree, error) { return object.GetTree(o.from, hash) })
	if err != nil {
		return err
	}
	for _, entry := range tree.Entries {
		name := path.Join(folder, entry.Name)
		switch entry.Mode {
		case filemode.Dir:
			err = o.into(files, name, entry.Hash)
		case filemode.Submodule:
		default:
			files[name], err = o.file(entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o objectsOnce) file(entry object.TreeEntry) (*fstest.MapFile, error) {
	content, err := once(o.blobs, entry.Hash, func() ([]byte, error) { return content(o.from, entry.Hash) })
	if err != nil {
		return nil, err
	}
	mode, err := entry.Mode.ToOSFileMode()
	return &fstest.MapFile{Data: content, Mode: mode}, err
}

func content(from storer.EncodedObjectStorer, hash plumbing.Hash) ([]byte, error) {
	blob, err := object.GetBlob(from, hash)
	if err != nil {
		return nil, err
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return io.ReadAll(reader)
}

func once[T any](known map[plumbing.Hash]T, hash plumbing.Hash, read func() (T, error)) (T, error) {
	if found, known := known[hash]; known {
		return found, nil
	}
	found, err := read()
	if err == nil {
		known[hash] = found
	}
	return found, err
}

// Objects reads the objects of a bare repository from one git process, each once.
// It is for one goroutine.
type Objects struct {
	command *exec.Cmd
	asked   io.WriteCloser
	answers *bufio.Reader
	read    map[string]string
}

// OpenObjects begins to read those of the bare repository dir. Whoever has them
// closes them.
func OpenObjects(dir string) (*Objects, error) {
	o := &Objects{command: exec.Command("git", "--git-dir", dir, "cat-file", "--batch"), read: map[string]string{}}
	o.command.Env = append(os.Environ(), environment()...)
	var err error
	if o.asked, err = o.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := o.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.answers = bufio.NewReader(out)
	return o, o.command.Start()
}

// Close ends the process.
func (o *Objects) Close() {
	_ = o.asked.Close()
	_ = o.command.Wait() // nobody asks it any more
}

// Read is the content of an object by its name, such as HASH^{tree}.
func (o *Objects) Read(name string) (string, error) {
	if content, known := o.read[name]; known {
		return content, nil
	}
	if _, err := fmt.Fprintln(o.asked, name); err != nil {
		return "", err
	}
	head, err := o.answers.ReadString('\n')
	if err != nil {
		return "", err
	}
	var hash, kind string
	var size int
	if _, err := fmt.Sscan(head, &hash, &kind, &size); err != nil {
		return "", fmt.Errorf("reading the object %s: %s", name, strings.TrimSpace(head))
	}
	content := make([]byte, size+1) // with a newline
	if _, err := io.ReadFull(o.answers, content); err != nil {
		return "", err
	}
	o.read[name] = string(content[:size])
	return o.read[name], nil
}

// Files visits the regular files of a tree, which Read has returned, each with its
// path below the folder.
func (o *Objects) Files(tree, folder string, visit func(path, content string)) error {
	for len(tree) > 0 {
		head, rest, found := strings.Cut(tree, "\x00")
		mode, name, _ := strings.Cut(head, " ")
		if !found || len(rest) < 20 {
			return fmt.Errorf("reading the tree of %q: it ends too soon", folder)
		}
		hash := fmt.Sprintf("%x", rest[:20])
		tree = rest[20:]
		isFolder, isFile := mode == "40000", strings.HasPrefix(mode, "100")
		if !isFolder && !isFile {
			continue
		}
		content, err := o.Read(hash)
		if err != nil {
			return err
		}
		if isFile {
			visit(folder+name, content)
		} else if err := o.Files(content, folder+name+"/", visit); err != nil {
			return err
		}
	}
	return nil
}
