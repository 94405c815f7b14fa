package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// crashing is the program, which ends where CRASH_AT says: before it prints
// that line. It leaves what the kernel knows of it in STATUS_FILE.
func crashing() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	wire := &tripwire{at: os.Getenv("CRASH_AT"), how: os.Getenv("CRASH_HOW"), out: os.Stdout, interrupt: func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(50 * time.Millisecond) // it is delivered meanwhile
	}}
	code := run(ctx, os.Args[1:], os.Getenv, wire, os.Stderr)
	if file := os.Getenv("STATUS_FILE"); file != "" {
		kernel, _ := os.ReadFile("/proc/self/status") // only Linux has it
		_ = os.WriteFile(file, kernel, 0o600)         // who wants it misses it
	}
	os.Exit(code)
}

// A tripwire ends the program at a line of its output, or stops it behind that
// until SIGCONT.
type tripwire struct {
	at, how   string
	out       io.Writer
	interrupt func()
	line      bytes.Buffer
	seen      map[string]int
}

func (w *tripwire) Write(text []byte) (int, error) {
	w.line.Write(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		return len(text), nil
	}
	line := w.line.String()
	w.line.Reset()
	reached := w.at != "" && w.pointOf(line) == w.at
	if reached {
		switch w.how {
		case "KILL":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "INT", "EVENT":
			w.interrupt()
		case "PANIC":
			panic("a crash")
		}
	}
	if reached && w.how == "STOP" {
		return len(text), w.stopBehind(line)
	}
	_, err := io.WriteString(w.out, line)
	return len(text), err
}

// stopBehind prints a line and stops until somebody lets the program go on. Another
// thread may be the one that takes the signal, and not at once on a busy machine, so
// this one waits too.
func (w *tripwire) stopBehind(line string) error {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	_, err := io.WriteString(w.out, line)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-on
	return err
}

var (
	boundary = regexp.MustCompile(`^(::group::.*|::error title=[^:]*|commit .*|preflight: |[a-z-]+: (passed|failed)|.*: (promoted|rolled back))`)
	varies   = regexp.MustCompile(`\b[0-9a-f]{8,40}\b|\b[0-9.]+(ms|s)\b|127\.0\.0\.1:[0-9]+`)
)

// pointOf is the name of the point that a line stands for, if it is one: how it
// begins, without what is different from run to run, with a number.
func (w *tripwire) pointOf(line string) string {
	name := boundary.FindString(strings.TrimSpace(line))
	if name == "" {
		return ""
	}
	name = varies.ReplaceAllString(name, "_")
	name = strings.NewReplacer("/", "|", "::group::", "begin ", "::", " ").Replace(name)
	if w.seen == nil {
		w.seen = map[string]int{}
	}
	w.seen[name]++
	if n := w.seen[name]; n > 1 {
		name += fmt.Sprintf(" (%d)", n)
	}
	return name
}
