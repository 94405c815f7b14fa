package kustomize

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// command starts the process that renders, and idle is the one that has started. Both belong to who holds the turn.
var (
	command []string
	idle    *worker
)

// Apart has kustomize run in another process from now on, which a command starts and which calls [Serve]. It has no environment, so no
// token and no programs such as git, gets the files that kustomize asks for and no others, and is ended when a render
// takes too long. It ends with this process.
func Apart(name string, args ...string) {
	turn <- struct{}{}
	command = append([]string{name}, args...)
	<-turn
}

// worker is a process that renders.
type worker struct {
	process *exec.Cmd
	to      *gob.Encoder
	from    *gob.Decoder
	said    said
}

// A task is what a worker is told to render, with what is known of the tree: to be asked for all of that takes longer than a small render.
type task struct {
	Dir       string
	Schema    bool // the overlay brings its own OpenAPI schema
	Questions []question
	Answers   []answer // to these, one after the other
}

func (o *overlay) task(dir string) task {
	t := task{Dir: dir, Schema: o.schema}
	for _, a := range o.asked.asked {
		t.Questions, t.Answers = append(t.Questions, a.question), append(t.Answers, a.answer)
	}
	return t
}

// A message of a worker is what it has built, or why it could not, or else a question about the tree.
type message struct {
	Question question
	Built    *built
	Failed   string
}

// ask has kustomize build the folder dir.
func (o *overlay) ask(ctx context.Context, dir string) (built, error) {
	if command == nil {
		return (&confined{ctx: ctx, tree: o.asked, files: o.files}).build(dir, o.schema)
	}
	w := idle
	if idle = nil; w != nil {
		b, err := o.askOne(ctx, w, dir)
		if !errors.Is(err, errEnded) || ctx.Err() != nil {
			return b, err
		} // nobody had needed it for long, or something else has ended it
	}
	w, err := newWorker()
	if err != nil {
		return built{}, fmt.Errorf("starting kustomize: %w", err)
	}
	return o.askOne(ctx, w, dir)
}

// errEnded says that a worker is gone.
var errEnded = errors.New("kustomize ended on this input")

// askOne asks one worker.
func (o *overlay) askOne(ctx context.Context, w *worker, dir string) (built, error) {
	stop := context.AfterFunc(ctx, func() { _ = w.process.Process.Kill() })
	b, failed, err := w.render(o.task(dir), o.answer)
	if stop() && err == nil {
		idle = w
	} else if ended := w.end(); err != nil && ctx.Err() == nil {
		return built{}, fmt.Errorf("%w: %s", errEnded, ended)
	}
	switch {
	case err != nil:
		return built{}, fmt.Errorf("not ready in time: %w", context.Cause(ctx))
	case failed != "":
		return built{}, errors.New(failed)
	}
	return *b, nil
}

func newWorker() (*worker, error) {
	w := &worker{process: exec.Command(command[0], command[1:]...)}
	w.process.Env, w.process.Stderr = []string{}, &w.said
	in, err := w.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.to, w.from = gob.NewEncoder(in), gob.NewDecoder(out)
	return w, w.process.Start()
}

// render gives a worker a task, and answers what it asks until it has done it. An error says that it is gone.
func (w *worker) render(t task, answer func(question) answer) (b *built, failed string, err error) {
	if err := w.to.Encode(t); err != nil {
		return nil, "", err
	}
	for {
		var m message
		if err := w.from.Decode(&m); err != nil || m.Built != nil || m.Failed != "" {
			return m.Built, m.Failed, err
		}
		if err := w.to.Encode(answer(m.Question)); err != nil {
			return nil, "", err
		}
	}
}

// end ends a worker that has not ended, and says why it has.
func (w *worker) end() string {
	_ = w.process.Process.Kill()
	err := w.process.Wait()
	words, _, _ := strings.Cut(w.said.String(), "\n")
	return cmp.Or(words, fmt.Sprint(err))
}

// said is the beginning of what a worker writes to its standard error.
type said struct{ bytes.Buffer }

func (s *said) Write(p []byte) (int, error) {
	const most = 4 << 10
	if room := most - s.Len(); room > 0 {
		s.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// answer is what the overlay's tree says to a question beyond what the task has: to one about what was not inspected.
func (o *overlay) answer(q question) answer {
	t := newQuestioned(o.asked)
	t.ask(q)
	return t.asked[0].answer
}
