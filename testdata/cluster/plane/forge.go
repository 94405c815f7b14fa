package plane

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// ForgeReader is Argo CD's account on the forge. It reads the repositories that
// it is made a collaborator of.
const ForgeReader = "argocd"

// giteaProgram needs cgo for its database.
func giteaProgram() program {
	return program{Name: "gitea", Package: gitea, CGO: true, Tags: "sqlite sqlite_unlock_notify", LDFlags: "-X main.Version=1.26.0"}
}

const gitea = "code.gitea.io/gitea"

// Forge reaches the control plane's Gitea, where it has one.
func (p *Plane) Forge() (*forge.Forge, error) {
	if _, err := p.part("forge"); err != nil {
		return nil, fmt.Errorf("the control plane %q runs no forge: %w", p.Name, err)
	}
	return forge.Connect(p.forge())
}

// forge is where Gitea is, without what only its start needs.
func (p *Plane) forge() forge.Options {
	return forge.Options{Dir: p.File("forge"), Addr: p.Address(forgeServer), URL: "http://" + p.Address(recorded(forgeServer))}
}

// Gitea builds Gitea, where it is not built yet, and tells how to run one: the
// folder and the address are up to the caller.
func Gitea(ctx context.Context, o Options) (forge.Options, error) {
	o, err := o.complete()
	if err != nil {
		return forge.Options{}, err
	}
	root, err := Root(ctx)
	if err != nil {
		return forge.Options{}, err
	}
	dir, err := source(root, giteaModule)
	if err != nil {
		return forge.Options{}, err
	}
	programs, err := o.buildModule(ctx, giteaModule, dir)
	if err != nil {
		return forge.Options{}, err
	}
	static, err := moduleDir(ctx, dir, gitea)
	return forge.Options{Binary: filepath.Join(programs, "gitea"), Static: static}, err
}

// startForge runs Gitea, and gives Argo CD an account on it.
func (p *Plane) startForge(ctx context.Context, k *Kube, home Options) error {
	o, err := Gitea(ctx, home)
	if err != nil {
		return err
	}
	at := p.forge()
	o.Dir, o.Addr, o.URL = at.Dir, at.Addr, at.URL
	if err := forge.Prepare(ctx, o); err != nil {
		return err
	}
	argv, env := o.Command()
	if err := p.run("forge", env, argv...); err != nil {
		return err
	}
	f, err := p.Forge()
	if err != nil {
		return err
	}
	if err := p.until(ctx, "forge", f.Healthy); err != nil {
		return err
	}
	return AdmitArgoCD(ctx, k, f)
}

// AdmitArgoCD gives Argo CD an account on a forge.
func AdmitArgoCD(ctx context.Context, k *Kube, f *forge.Forge) error {
	if err := f.User(ctx, ForgeReader); err != nil {
		return err
	}
	token, err := f.Token(ctx, ForgeReader, "read:repository")
	if err != nil {
		return err
	}
	if err := k.Namespace(ctx, "argocd"); err != nil { // it may not be there yet
		return err
	}
	return k.In("argocd").By("forge").Apply(ctx, fmt.Appendf(nil, forgeCredentials, f.URL[strings.LastIndex(f.URL, ":")+1:], f.URL, ForgeReader, token))
}

// forgeCredentials are what Argo CD reads all repositories of the forge with.
const forgeCredentials = `
apiVersion: v1
kind: Secret
metadata: {name: "forge-%s", labels: {argocd.argoproj.io/secret-type: repo-creds}}
stringData: {type: git, url: "%s/", username: "%s", password: "%s"}
`
