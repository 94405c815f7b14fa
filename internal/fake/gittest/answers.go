package gittest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// answers are what git has answered in this process: starting it costs more than
// all else that a test does, and a request for objects by their hashes, or for the
// branches while none has moved, has one answer.
var answers = struct {
	sync.Mutex
	known map[string][]byte
}{known: map[string][]byte{}}

// maxKept bounds an answer that is kept, in bytes.
const maxKept = 256 << 10

// answered writes what git has answered to the same question, or asks it. An empty
// question is asked each time, and what changed meanwhile is kept under neither.
func answered(w io.Writer, question func() string, ask func(io.Writer) error) {
	before := question()
	answers.Lock()
	answer, known := answers.known[before]
	answers.Unlock()
	if known {
		_, _ = w.Write(answer) // clients may stop reading
		return
	}
	var kept bytes.Buffer
	err := ask(io.MultiWriter(w, &kept)) // what went wrong it has told the client
	if err == nil && before != "" && kept.Len() <= maxKept && question() == before {
		answers.Lock()
		answers.known[before] = kept.Bytes()
		answers.Unlock()
	}
}

// advertisement is the question for the branches of the bare repository dir: it
// has all that the answer is made of. It is empty where dir cannot be read.
func advertisement(dir, service, protocol string) string {
	var question strings.Builder
	fmt.Fprintln(&question, dir, service, protocol)
	for _, name := range []string{"config", "HEAD", "packed-refs", "refs"} {
		err := fs.WalkDir(os.DirFS(dir), name, func(name string, entry fs.DirEntry, err error) error {
			if os.IsNotExist(err) { // never packed, or deleted meanwhile
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			fmt.Fprintf(&question, "%s %q\n", name, content)
			return err
		})
		if err != nil {
			return ""
		}
	}
	return question.String()
}

// objects is the question of a request for objects by their hashes alone, which
// the bare repository dir has. It is empty for any other.
func objects(dir, protocol string, request []byte) string {
	if protocol != "" || bytes.Contains(request, []byte("have ")) || !bytes.HasSuffix(request, []byte("done\n")) {
		return ""
	}
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return ""
	}
	repository, err := git.PlainOpen(dir)
	if err != nil {
		return ""
	}
	words := strings.Fields(string(request))
	for n, word := range words {
		if n > 0 && strings.HasSuffix(words[n-1], "want") && repository.Storer.HasEncodedObject(plumbing.NewHash(word)) != nil {
			return ""
		}
	}
	slices.Sort(words) // clients name what they can do in any order
	return string(config) + strings.Join(words, " ")
}
