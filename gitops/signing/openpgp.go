package signing

import (
	"bytes"
	"fmt"
	"slices"
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
	key, err := signingKey(entity, now)
	if err != nil {
		return nil, err
	}
	if err := decrypt(key.PrivateKey, passphrase); err != nil {
		return nil, err
	}
	sign := func(commit []byte) (string, error) { return signOpenPGP(entity, key.PublicKey.KeyId, commit) }
	canSign := func(at time.Time) bool {
		_, can := entity.SigningKeyById(at, key.PublicKey.KeyId)
		return can
	}
	return &Key{ID: key.PublicKey.KeyIdString(), OpenPGP: true, sign: sign, canSign: canSign}, nil
}

// signingKey is the newest of an entity's keys that can sign and has its private
// part here: that of a newer one may be on a card.
func signingKey(entity *openpgp.Entity, now time.Time) (openpgp.Key, error) {
	newest, can := entity.SigningKey(now)
	if !can {
		return newest, fmt.Errorf("OpenPGP key %s cannot sign now: it has expired, was revoked or is for other uses: give one that signs", entity.PrimaryKey.KeyIdString())
	}
	candidates := []openpgp.Key{newest}
	for _, id := range idsOf(entity) {
		if key, can := entity.SigningKeyById(now, id); can && key.PublicKey.KeyId == id {
			candidates = append(candidates, key)
		}
	}
	for _, key := range candidates {
		if key.PrivateKey != nil && !key.PrivateKey.Dummy() {
			return key, nil
		}
	}
	return newest, fmt.Errorf("OpenPGP key %s is there without its private part: export it with gpg --export-secret-subkeys or --export-secret-keys", newest.PublicKey.KeyIdString())
}

// idsOf are the ids of the subkeys, newest first, and of the primary key.
func idsOf(entity *openpgp.Entity) []uint64 {
	subkeys := slices.Clone(entity.Subkeys)
	slices.SortStableFunc(subkeys, func(a, b openpgp.Subkey) int { return b.Sig.CreationTime.Compare(a.Sig.CreationTime) })
	var ids []uint64
	for _, subkey := range subkeys {
		ids = append(ids, subkey.PublicKey.KeyId)
	}
	return append(ids, entity.PrimaryKey.KeyId)
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
