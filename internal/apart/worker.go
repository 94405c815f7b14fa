package apart

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// worker is a process that parts work in.
type worker struct {
	process *exec.Cmd
	conn    *Conn
	said    said
}

func start() (*worker, error) {
	w := &worker{process: exec.Command(command[0], command[1:]...)}
	w.process.Env, w.process.Stderr = []string{}, &w.said
	to, err := w.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	from, err := w.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.conn = connect(from, to)
	return w, w.process.Start()
}

// do has a part work there. The worker is idle afterwards, or has ended.
func (w *worker) do(ctx context.Context, part Part, talk func(*Conn) error) error {
	stop := context.AfterFunc(ctx, func() { _ = w.process.Process.Kill() })
	err := w.conn.Send(part.Name)
	if err == nil {
		err = talk(w.conn)
	}
	if stop() && err == nil {
		idle = w
		return nil
	}
	why := w.end()
	if ctx.Err() != nil {
		return late(ctx)
	}
	return ended(part, why)
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
