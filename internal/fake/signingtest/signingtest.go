// Package signingtest makes keys that sign commits with the installed gpg and
// ssh-keygen, for tests.
package signingtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A Key is one that gpg or ssh-keygen has made.
type Key struct {
	Private    string // as it is pasted
	Passphrase string // of Private
	Public     string // of an SSH key, as authorized_keys has it; armored of an OpenPGP key
	ID         string // of the key that signs, as gpg shows it, or the fingerprint
	Home       string // GnuPG's folder, which trusts the key; empty: an SSH key
}

const owner = "bot <bot@example.com>"

// OpenPGP makes a key of an algorithm, such as rsa3072 or ed25519, that signs by
// itself.
func OpenPGP(t testing.TB, algorithm, passphrase string) Key {
	t.Helper()
	return newOpenPGP(t, owner, algorithm, passphrase, "never")
}

// Of makes a key that signs by itself for somebody, such as bot <bot@example.com>.
func Of(t testing.TB, somebody string) Key {
	t.Helper()
	return newOpenPGP(t, somebody, "ed25519", "", "never")
}

// Expiring makes a key that signs by itself for some seconds.
func Expiring(t testing.TB, seconds int) Key {
	t.Helper()
	return newOpenPGP(t, owner, "ed25519", "", fmt.Sprintf("seconds=%d", seconds))
}

func newOpenPGP(t testing.TB, owner, algorithm, passphrase, expires string) Key {
	t.Helper()
	g := newGnuPG(t, passphrase)
	g.run("--quick-generate-key", owner, algorithm, "sign", expires)
	ids := g.ids("sec")
	return Key{Private: g.run("--armor", "--export-secret-keys"), Passphrase: passphrase, Public: g.run("--armor", "--export"), ID: ids[0], Home: g.home}
}

// Subkey makes a key whose subkey signs, and exports the subkey alone, as those
// do who keep the primary key offline.
func Subkey(t testing.TB) Key {
	t.Helper()
	g := newGnuPG(t, "")
	g.run("--quick-generate-key", owner, "ed25519", "cert", "never")
	g.run("--quick-add-key", g.fingerprints()[0], "ed25519", "sign", "never")
	return Key{Private: g.run("--armor", "--export-secret-subkeys"), Public: g.run("--armor", "--export"), ID: g.ids("ssb")[0], Home: g.home}
}

// OldSubkey makes a key with two subkeys that sign, and exports it without the
// private part of the newer one, as where that is on a card.
func OldSubkey(t testing.TB) Key {
	t.Helper()
	g := newGnuPG(t, "")
	const before = "--faked-system-time=20200101T000000!" // the times of keys are whole seconds
	g.run(before, "--quick-generate-key", owner, "ed25519", "cert", "never")
	primary := g.fingerprints()[0]
	g.run(before, "--quick-add-key", primary, "ed25519", "sign", "never")
	old := g.ids("ssb")[0]
	g.run("--quick-add-key", primary, "ed25519", "sign", "never")
	newer := g.fingerprints()[2]
	g.run("--yes", "--delete-secret-keys", newer+"!")
	return Key{Private: g.run("--armor", "--export-secret-keys"), Public: g.run("--armor", "--export"), ID: old, Home: g.home}
}

// SSH makes a key with the arguments of ssh-keygen, which the passphrase opens quickly.
func SSH(t testing.TB, passphrase string, arguments ...string) Key {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	run(t, exec.Command("ssh-keygen", append(arguments, "-a", "1", "-q", "-N", passphrase, "-f", file)...))
	private, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	shown := run(t, exec.Command("ssh-keygen", "-l", "-f", file+".pub"))
	return Key{Private: string(private), Passphrase: passphrase, Public: string(public), ID: strings.Fields(shown)[1]}
}

// gnuPG is a folder of GnuPG's with an agent of its own.
type gnuPG struct {
	t                testing.TB
	home, passphrase string
}

// newGnuPG makes the folder beside the test's own, whose name can be longer than
// that of the agent's socket may be.
func newGnuPG(t testing.TB, passphrase string) gnuPG {
	t.Helper()
	home, err := os.MkdirTemp("", "gnupg")
	if err != nil {
		t.Fatal(err)
	}
	g := gnuPG{t, home, passphrase}
	t.Cleanup(func() {
		// The agent ends by itself when its folder is gone; this only hurries it.
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run()
		_ = os.RemoveAll(home)
	})
	return g
}

func (g gnuPG) run(arguments ...string) string {
	g.t.Helper()
	return run(g.t, exec.Command("gpg", append([]string{"--homedir", g.home, "--batch", "--pinentry-mode", "loopback", "--passphrase", g.passphrase}, arguments...)...))
}

// fingerprints are those of the secret keys: the primary one, then its subkeys.
func (g gnuPG) fingerprints() []string {
	g.t.Helper()
	var all []string
	for _, found := range regexp.MustCompile(`(?m)^fpr:+([0-9A-F]{40}):`).FindAllStringSubmatch(g.run("--with-colons", "--list-secret-keys"), -1) {
		all = append(all, found[1])
	}
	return all
}

// ids are those of the secret keys of a kind: sec or ssb.
func (g gnuPG) ids(kind string) []string {
	g.t.Helper()
	var ids []string
	for _, found := range regexp.MustCompile(`(?m)^`+kind+`:[^:]*:[^:]*:[^:]*:([0-9A-F]{16}):`).FindAllStringSubmatch(g.run("--with-colons", "--list-secret-keys"), -1) {
		ids = append(ids, found[1])
	}
	return ids
}

// run skips a test whose program is not installed.
func run(t testing.TB, c *exec.Cmd) string {
	t.Helper()
	if _, err := exec.LookPath(c.Path); err != nil {
		t.Skipf("%s is not installed", filepath.Base(c.Path))
	}
	var failed strings.Builder
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, failed.String())
	}
	return string(out)
}
