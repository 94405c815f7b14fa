package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBadOptions(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "kubeconfig")
	for _, c := range []struct {
		options options
		want    string
	}{
		{options{kubeconfig: missing}, "-cert is not given: expected a file to write the admission CA to"},
		{options{kubeconfig: missing, cert: "admission.pem"}, `reading kubeconfig "` + missing + `": `},
	} {
		err := run(t.Context(), c.options)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.options, err, c.want)
		}
	}
}
