package apart

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/acme/knative-promote/internal/httpx"
)

// Limits on a process that parts work in.
const (
	// MostMemory is how many bytes its heap may take, with what is not used any more and not yet collected.
	MostMemory = 2 << 30

	mostStack = 256 << 20
	mostIdle  = time.Minute
)

// Serve has parts work for the process that has called [By], from its input and to its output, until there is no more or for a
// minute nothing to do. It takes the whole process for itself: it sends nothing over HTTP, and exits also in the middle of a
// task, where its input ends or its heap takes more than so many bytes.
func Serve(in io.Reader, out io.Writer, mostMemory int64, exit func(code int), parts ...Part) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // the other process gets them too, and may have something to restore
	httpx.RefuseOthers()
	bound(mostMemory, exit)
	if nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = nowhere // libraries warn there; the other process reads there why this one ends
	}
	does := map[string]func(*Conn) error{}
	for _, p := range parts {
		does[p.Name] = p.Do
	}
	idle := time.AfterFunc(mostIdle, func() { exit(0) })
	for c := connect(watched(in, exit), out); ; {
		var name string
		if err := c.Receive(&name); err != nil {
			return
		}
		idle.Stop()
		if err := does[name](c); err != nil {
			return
		}
		idle.Reset(mostIdle)
	}
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

// watched is an input at whose end the process exits, also while a part works.
func watched(in io.Reader, exit func(int)) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, _ = io.Copy(w, in)
		exit(0)
	}()
	return r
}
