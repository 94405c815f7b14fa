//go:build cluster

package scenario

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/fake/strays"
)

// servers are what the recorder stands before, as far as the control plane has them.
func servers() map[string]string {
	all := map[string]string{"git": world.GitURL(), "argocd-server": "https://" + world.ArgoCDServer(), "ingress": "http://" + world.Ingress()}
	if f, err := world.Forge(); err == nil {
		all["forge"] = f.URL
	}
	if address, err := world.Prometheus(); err == nil {
		all["prometheus"] = address
	}
	return all
}

// recorded runs the tests. They fail where a server of the control plane was sent a credential
// that is for another one, or where the recorder misses one that is for nobody and was sent to all.
func recorded(ctx context.Context, tests func() int) int {
	before, err := world.Credentials().Strays()
	if err != nil {
		return failed(err)
	}
	planted, err := plant(ctx)
	if err != nil {
		return failed(err)
	}
	code := tests()
	now, err := world.Credentials().Strays()
	if err != nil {
		return failed(err)
	}
	for _, stray := range now[len(before):] {
		if i := slices.Index(planted, stray); i >= 0 {
			planted = slices.Delete(planted, i, i+1)
			continue
		}
		code = failed(fmt.Errorf("a credential went astray: %s", stray))
	}
	for _, missed := range planted {
		code = failed(fmt.Errorf("the recorder has not seen that %s", missed))
	}
	return code
}

// plant sends every server what is for none of them.
func plant(ctx context.Context) (planted []string, err error) {
	decoy := strays.Credential{Name: fmt.Sprintf("decoy %d", os.Getpid()), Secret: fmt.Sprintf("decoy-%d-of-the-scenarios", os.Getpid())}
	if err := world.Credentials().Add(decoy); err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for name, address := range servers() {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/decoy", strings.NewReader("{}"))
		if err != nil {
			return nil, err
		}
		request.SetBasicAuth("anybody", decoy.Secret)
		response, err := client.Do(request)
		if err != nil {
			return nil, fmt.Errorf("sending %s a credential that is for nobody: %w", name, err)
		}
		response.Body.Close()
		planted = append(planted, fmt.Sprintf("%s was sent to %s: POST /decoy", decoy.Name, name))
	}
	return planted, nil
}

// watched has the recorder look for a token of an account of the forge.
func watched(user, token string) error {
	return world.Credentials().Add(strays.Credential{Name: "token of " + user + " for the forge", Secret: token, Servers: []string{"forge"}})
}
