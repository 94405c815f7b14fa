package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/fake/consoletest"
)

// ending is how a run of the command ended.
type ending struct {
	exit    int
	outputs map[string]string
}

// run runs the command as the Actions runner does, and prints its log as the
// runner shows it.
func (w *world) run(ctx context.Context, out io.Writer, s story) (ending, error) {
	for _, name := range []string{w.outputs(), w.summary()} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			return ending{}, err
		}
	}
	command := exec.CommandContext(ctx, w.binary)
	command.Env, command.Stderr = w.environment(s), os.Stderr
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	log, err := command.StdoutPipe()
	if err != nil {
		return ending{}, err
	}
	if err := command.Start(); err != nil {
		return ending{}, err
	}
	shown := showLog(out, log)
	err = command.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || shown != nil || ctx.Err() != nil {
		return ending{}, errors.Join(err, shown, ctx.Err())
	}
	return w.ending(command.ProcessState.ExitCode())
}

// ending reads what the command left for the runner.
func (w *world) ending(exit int) (ending, error) {
	summary, err := os.ReadFile(w.summary())
	if err != nil {
		return ending{}, err
	}
	if len(summary) == 0 {
		return ending{}, errors.New("the command wrote no job summary")
	}
	text, err := os.ReadFile(w.outputs())
	if err != nil {
		return ending{}, err
	}
	outputs, err := consoletest.Values(string(text))
	return ending{exit, outputs}, errors.Join(err, hidesSecrets(string(summary)), hidesSecrets(outputs["report"]))
}

// outputs and summary are the step's files that the runner reads.
func (w *world) outputs() string { return filepath.Join(w.dir, "outputs") }
func (w *world) summary() string { return filepath.Join(w.dir, "summary") }

// environment is what the runner gives to a step.
func (w *world) environment(s story) []string {
	env := []string{
		"GITHUB_ACTIONS=true", "GITHUB_ACTOR=octocat", "GITHUB_REPOSITORY=acme/product-import",
		"GITHUB_SERVER_URL=https://github.com", "GITHUB_API_URL=" + w.GitHub, fmt.Sprintf("GITHUB_RUN_ID=%d", 1000+w.number),
		"GITHUB_OUTPUT=" + w.outputs(), "GITHUB_STEP_SUMMARY=" + w.summary(),
		"INPUT_GITHUB-TOKEN=" + hubToken,
	}
	if s.pull > 0 {
		env = append(env, "GITHUB_SHA="+commitOf(s.pull))
	}
	secrets := strings.NewReplacer(
		"${{ secrets.INFRA_TOKEN }}", gitToken, "${{ secrets.ARGOCD_TOKEN }}", argoToken, "${{ vars.ARGOCD_CA }}", string(w.Argo.CA()))
	for _, in := range s.with {
		env = append(env, "INPUT_"+strings.ToUpper(in.name)+"="+secrets.Replace(in.value))
	}
	return env
}

// commitOf is the commit that a pull request was merged as.
func commitOf(pull int) string { return fmt.Sprintf("%040x", pull) }

// showLog prints a log as the runner shows it: groups as headings, errors in
// words, and nothing of the commands between the step and the runner.
func showLog(out io.Writer, log io.Reader) error {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	var err error
	for lines.Scan() {
		shown := asShown(lines.Text())
		if shown != "" {
			fmt.Fprintln(out, "  │", shown)
		}
		err = errors.Join(err, hidesSecrets(shown))
	}
	return errors.Join(err, lines.Err())
}

// asShown is a line as the runner shows it; empty: not at all.
func asShown(line string) string {
	command, text, found := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	if !strings.HasPrefix(line, "::") || !found {
		return "  " + line
	}
	text = strings.NewReplacer("%0A", "\n  │   ", "%0D", "", "%25", "%").Replace(text)
	switch name, _, _ := strings.Cut(command, " "); name {
	case "group":
		return "▸ " + text
	case "error", "warning", "notice":
		return name + ": " + text
	}
	return ""
}

// hidesSecrets fails where a line shows one.
func hidesSecrets(line string) error {
	for _, secret := range []string{gitToken, argoToken, hubToken} {
		if strings.Contains(line, secret) {
			return fmt.Errorf("the log shows a secret: %s", line)
		}
	}
	return nil
}
