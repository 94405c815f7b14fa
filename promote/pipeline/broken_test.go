package pipeline

import (
	"strings"
	"testing"
)

func TestGiven(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"environment":    {"defaults: {argocd-server: a}\nenvironments: {production: {argocd-server: b}, staging: {argocd-server: c}}", "b"},
		"defaults":       {"defaults: {argocd-server: a}\nenvironments: {production: {}}", "a"},
		"service":        {"environments: {production: {argocd-server: b}}\nservices: {web: {production: {argocd-server: d}}}", "d"},
		"unknown key":    {"x: y\nenvironments: {production: {sok: 1h, argocd-server: b}}", "b"},
		"wrong type":     {"defaults: [a]\nenvironments: {production: {argocd-server: b}}", "b"},
		"no environment": {"environments: {prod: {argocd-server: b}}", ""},
		"no file":        {"", ""},
		"not YAML":       {"environments: {production: {argocd-server: b}", ""},
		"too long":       {"environments: {production: {argocd-server: b}}\n#" + strings.Repeat("x", sizeLimit), ""},
	} {
		if got := Given([]byte(test.text), "web", "production", "argocd-server"); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
