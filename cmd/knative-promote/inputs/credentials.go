package inputs

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"regexp"
	"strings"
	"unicode"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/github"
)

func parseSecret(text string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return "", errors.New("expected one line without blanks")
	}
	return text, nil
}

// parseText accepts what only another input says the form of.
func parseText(text string) (string, error) { return text, nil }

// parseAppID accepts a number, and a client id such as Iv23liAbCdEf.
func parseAppID(text string) (string, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9.]{1,64}$`).MatchString(text) {
		return "", errors.New("expected the App's id or client id, of letters and digits")
	}
	return text, nil
}

func parseCertificates(text string) ([]byte, error) {
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		return nil, errors.New("expected certificates in PEM, from -----BEGIN CERTIFICATE----- on")
	}
	return []byte(text), nil
}

func parsePrivateKey(text string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text + "\n"))
	if block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return nil, errors.New("expected a private key in PEM, whole, from -----BEGIN to the END line")
	}
	return []byte(text + "\n"), nil
}

// parseAppKey accepts what a GitHub App can sign with.
func parseAppKey(text string) ([]byte, error) {
	key, err := parsePrivateKey(text)
	if err != nil {
		return nil, err
	}
	_, err = github.ParseAppKey(key)
	return key, err
}

// parseSSHKey accepts what a deploy key can be.
func parseSSHKey(text string) ([]byte, error) {
	key, err := parsePrivateKey(text)
	if err != nil {
		return nil, err
	}
	return key, remote.CheckSSHKey(key)
}

func parseKnownHosts(text string) ([]byte, error) {
	for _, line := range nonBlankLines(text) {
		if !strings.HasPrefix(line, "#") && len(strings.Fields(line)) < 3 {
			return nil, errors.New("expected lines of host, key type and key, as ssh-keyscan prints them")
		}
	}
	hosts := []byte(text + "\n")
	return hosts, remote.CheckKnownHosts(hosts)
}

// Secrets are the texts that no output may show: the secret inputs as they
// came, before anything is checked, and the parts of them that are secrets
// alone.
func Secrets(getenv func(string) string) []string {
	var secrets []string
	for _, in := range All() {
		if !in.Secret {
			continue
		}
		for _, name := range in.EnvNames() {
			text := getenv(name)
			secrets = append(secrets, text)
			if in.Parts != nil {
				secrets = append(secrets, in.Parts(text)...)
			}
		}
	}
	return secrets
}
