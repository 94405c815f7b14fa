package signing

import (
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// What Git's signatures with SSH keys are made of
// (https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig).
const (
	sshMagic     = "SSHSIG"
	sshVersion   = 1
	sshNamespace = "git"
	sshHash      = "sha512"
	sshLine      = 70 // characters of a line of the armor
)

func parseSSH(text, passphrase string) (*Key, error) {
	signer, err := sshSigner([]byte(text+"\n"), passphrase)
	if err != nil {
		return nil, err
	}
	algorithm := signer.PublicKey().Type()
	if algorithm == ssh.KeyAlgoRSA {
		algorithm = ssh.KeyAlgoRSASHA512 // ssh-keygen -Y verify refuses SHA-1
	}
	return &Key{ID: ssh.FingerprintSHA256(signer.PublicKey()), sign: func(commit []byte) (string, error) {
		return signSSH(signer, algorithm, commit)
	}}, nil
}

func sshSigner(pem []byte, passphrase string) (ssh.AlgorithmSigner, error) {
	signer, err := ssh.ParsePrivateKey(pem)
	if _, encrypted := errors.AsType[*ssh.PassphraseMissingError](err); encrypted {
		if passphrase == "" {
			return nil, ErrNoPassphrase
		}
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(pem, []byte(passphrase)); err != nil {
			return nil, ErrPassphrase
		}
	}
	able, ok := signer.(ssh.AlgorithmSigner)
	if err != nil || !ok {
		return nil, errForm
	}
	return able, nil
}

func signSSH(signer ssh.AlgorithmSigner, algorithm string, commit []byte) (string, error) {
	digest := sha512.Sum512(commit)
	signed := ssh.Marshal(struct{ Namespace, Reserved, Hash, Digest string }{sshNamespace, "", sshHash, string(digest[:])})
	signature, err := signer.SignWithAlgorithm(rand.Reader, append([]byte(sshMagic), signed...), algorithm)
	if err != nil {
		return "", fmt.Errorf("signing with SSH key %s: %w", ssh.FingerprintSHA256(signer.PublicKey()), err)
	}
	blob := ssh.Marshal(struct {
		Version                                         uint32
		PublicKey, Namespace, Reserved, Hash, Signature string
	}{sshVersion, string(signer.PublicKey().Marshal()), sshNamespace, "", sshHash, string(ssh.Marshal(signature))})
	return armor(append([]byte(sshMagic), blob...)), nil
}

func armor(blob []byte) string {
	lines := []string{"-----BEGIN SSH SIGNATURE-----"}
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(blob)), sshLine) {
		lines = append(lines, string(line))
	}
	return strings.Join(append(lines, "-----END SSH SIGNATURE-----", ""), "\n")
}
