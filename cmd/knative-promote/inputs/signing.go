package inputs

import (
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/gitops/signing"
)

// checkSigning says what is wrong with the key that signs, or with its passphrase.
func checkSigning(s *Settings, given origins) string {
	key, passphrase := given.source("signing-key"), given.source("signing-passphrase")
	switch err := s.Signing.refused; {
	case key == "" && passphrase != "":
		return fmt.Sprintf("signing-passphrase (%s): there is no key that it decrypts; set signing-key too, or remove it", passphrase)
	case errors.Is(err, signing.ErrNoPassphrase):
		return fmt.Sprintf("signing-passphrase: missing: the key of signing-key (%s) is encrypted; set signing-passphrase too", key)
	case errors.Is(err, signing.ErrPassphrase):
		return fmt.Sprintf("signing-passphrase (%s): it does not decrypt the key of signing-key (%s); expected the passphrase of that key", passphrase, key)
	case err != nil:
		return fmt.Sprintf("signing-key (%s): the value cannot sign commits: %v", key, err)
	}
	return ""
}

// checkKeyLife refuses a promotion whose rollback could not be signed any more.
func checkKeyLife(s *Settings, given origins) string {
	worst := s.Promote.Worst(s.Timeout)
	if s.Command != Promote || s.Promote.Signer == nil || s.Timeout == 0 || s.Promote.Signer.CanSign(time.Now().Add(worst)) {
		return ""
	}
	return fmt.Sprintf("signing-key (%s): the key expires before this promotion and its rollback have ended, which may take %s; "+
		"expected one that is good for longer, or lower timeout, wait-timeout or the times in steps", given.source("signing-key"), worst)
}
