package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRollbackOfTheComment runs the command that a comment shows as a reader would:
// as it stands there, with nothing set but the variables that it names.
func TestRollbackOfTheComment(t *testing.T) {
	t.Parallel()
	w := worldOf(t)
	p := w.begun(t, nil, []string{"promote", "--image", "ghcr.io/acme/product-import:v2.0.0", "--steps", "10", "--candidate-tag", "next"})
	if !p.endsInTime() || p.exit() != "0" {
		t.Fatalf("the promotion ended with %s:\n%s", p.exit(), p.out.String())
	}
	shown := regexp.MustCompile("(?s)To roll it back, with (.*?) in the environment:\n\n```sh\n(.*?)\n```").FindStringSubmatch(w.hub.Comments(7)[0].Body())
	if shown == nil {
		t.Fatalf("the comment has no command:\n%s", w.hub.Comments(7)[0].Body())
	}
	env := w.home()
	for _, name := range strings.Split(strings.ReplaceAll(shown[1], "`", ""), ", ") {
		i := slices.IndexFunc(w.vars, func(v string) bool { return strings.HasPrefix(strings.ReplaceAll(v, "-", "_"), name+"=") })
		if i < 0 {
			t.Fatalf("the run had no %s", name)
		}
		_, value, _ := strings.Cut(w.vars[i], "=")
		env = append(env, name+"="+value)
	}
	command := exec.CommandContext(t.Context(), "sh", "-c", shown[2])
	command.Dir, command.Env = w.dir, env
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "rolled back") {
		t.Fatalf("%s: %v\n%s", shown[2], err, out)
	}
	if got := w.split(); !slices.Contains(got, "v1.0.0=100") {
		t.Errorf("the data path does %v", got)
	}
}
