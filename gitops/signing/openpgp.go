package signing

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

func parseOpenPGP(text, passphrase string, now time.Time) (*Key, error) {
	// What the reader says of a text that is no key can quote it.
	ring, err := openpgp.ReadArmoredKeyRing(strings.NewReader(text))
	if err != nil || len(ring) == 0 {
		return nil, errForm
	}
	if len(ring) > 1 {
		return nil, fmt.Errorf("expected one OpenPGP key, and there are %d: export the one to sign with by its id", len(ring))
	}
	entity := ring[0]
	key, ok := entity.SigningKey(now)
	if !ok {
		return nil, fmt.Errorf("OpenPGP key %s cannot sign now: it has expired, was revoked or is for other uses: give one that signs", entity.PrimaryKey.KeyIdString())
	}
	id := key.PublicKey.KeyIdString()
	if key.PrivateKey == nil || key.PrivateKey.Dummy() {
		return nil, fmt.Errorf("OpenPGP key %s is there without its private part: export it with gpg --export-secret-subkeys or --export-secret-keys", id)
	}
	if err := decrypt(key.PrivateKey, passphrase); err != nil {
		return nil, err
	}
	sign := func(commit []byte) (string, error) { return signOpenPGP(entity, key.PublicKey.KeyId, commit) }
	canSign := func(at time.Time) bool {
		_, can := entity.SigningKeyById(at, key.PublicKey.KeyId)
		return can
	}
	return &Key{ID: id, OpenPGP: true, sign: sign, canSign: canSign}, nil
}

func decrypt(key *packet.PrivateKey, passphrase string) error {
	switch {
	case !key.Encrypted:
		return nil
	case passphrase == "":
		return ErrNoPassphrase
	case key.Decrypt([]byte(passphrase)) != nil:
		return ErrPassphrase
	}
	return nil
}

func signOpenPGP(signer *openpgp.Entity, id uint64, commit []byte) (string, error) {
	var signature bytes.Buffer
	err := openpgp.ArmoredDetachSign(&signature, signer, bytes.NewReader(commit), &packet.Config{SigningKeyId: id})
	if err != nil {
		return "", fmt.Errorf("signing with OpenPGP key %016X: %w", id, err)
	}
	return signature.String() + "\n", nil
}
