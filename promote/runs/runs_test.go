package runs

import "testing"

func TestNewerRun(t *testing.T) {
	t.Parallel()
	const server = "https://github.com/acme/"
	for _, test := range []struct {
		run, than string
		want      bool
	}{
		{server + "web/actions/runs/10", server + "web/actions/runs/9", true},
		{server + "infra/actions/runs/10", server + "web/actions/runs/9", true},
		{"https://gitlab.example.com/acme/web/-/pipelines/10", "https://gitlab.example.com/acme/infra/-/pipelines/9", true},
		{"https://gitlab.example.com/acme/web/-/pipelines/9", "https://gitlab.example.com/acme/web/-/pipelines/10", false},
		{server + "web/actions/runs/9", server + "web/actions/runs/10", false},
		{server + "web/actions/runs/9", server + "web/actions/runs/9", false},
		{"https://elsewhere.example.com/acme/web/actions/runs/10", server + "web/actions/runs/9", false},
		{"", server + "web/actions/runs/9", false},
		{server + "web/actions/runs/10", "", false},
		{server + "web/actions/runs/99999999999999999999", server + "web/actions/runs/9", false},
	} {
		if got := Newer(test.run, test.than); got != test.want {
			t.Errorf("Newer(%q, %q) = %t", test.run, test.than, got)
		}
	}
}
