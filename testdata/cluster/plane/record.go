package plane

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/acme/knative-promote/internal/fake/strays"
)

// The servers that programs reach, each through a recorder.
const (
	gitServer        = "git"
	forgeServer      = "forge"
	argocdServer     = "argocd-server"
	prometheusServer = "prometheus"
	ingressServer    = "ingress"
)

// recorded is the port that programs reach a server at.
func recorded(server string) string { return "recorded-" + server }

// startRecorder runs what stands before the servers.
func (p *Plane) startRecorder(programs Programs) error {
	if err := os.MkdirAll(p.Credentials().Dir, 0o700); err != nil {
		return err
	}
	argv := []string{programs.path(self, self), "record", p.Credentials().Dir}
	for _, server := range []string{gitServer, forgeServer, argocdServer, prometheusServer, ingressServer} {
		scheme := "http"
		if server == argocdServer {
			scheme = "https"
		}
		argv = append(argv, fmt.Sprintf("%s=%s=%s://%s", server, p.Address(recorded(server)), scheme, p.Address(server)))
	}
	if err := p.run("recorder", nil, argv...); err != nil {
		return err
	}
	return p.Credentials().Add(strays.Credential{Name: "GitPassword", Secret: GitPassword, Servers: []string{gitServer}})
}

// Credentials are what the recorder knows and has found.
func (p *Plane) Credentials() Credentials { return Credentials{Dir: p.File("recorded")} }

// Credentials are in a folder, so that several programs may add some.
type Credentials struct{ Dir string }

func (c Credentials) file(name string) string { return filepath.Join(c.Dir, name) }

// Add has the recorder look for one more.
func (c Credentials) Add(of strays.Credential) error {
	return appendTo(c.file("credentials"), strings.Join(append([]string{of.Name, of.Secret}, of.Servers...), "\t"))
}

// All are those that the recorder looks for.
func (c Credentials) All() (all []strays.Credential) {
	content, err := os.ReadFile(c.file("credentials"))
	if err != nil { // none yet
		return nil
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) > 1 {
			all = append(all, strays.Credential{Name: fields[0], Secret: fields[1], Servers: fields[2:]})
		}
	}
	return all
}

// Size grows with each that is added.
func (c Credentials) Size() int64 {
	info, err := os.Stat(c.file("credentials"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Stray notes what a server was sent that is for others.
func (c Credentials) Stray(stray string) error { return appendTo(c.file("strays"), stray) }

// Strays are those noted, a line each.
func (c Credentials) Strays() ([]string, error) {
	content, err := os.ReadFile(c.file("strays"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n"), err
}

// Certificate is Argo CD's, which the recorder shows in its place.
func (c Credentials) Certificate() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.file("argocd.pem"), c.file("argocd.key"))
	return &pair, err
}

func appendTo(file, line string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.WriteString(f, line+"\n")
	return err
}
