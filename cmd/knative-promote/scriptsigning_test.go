package main

import (
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// sign gives the program an SSH key to sign with, or looks at what it has signed.
//
//	sign key         sets signing-key to a new key, encrypted, and signing-passphrase
//	sign verified    all commits since the seed are signed with it, as Git says
func sign(ts *testscript.TestScript, w *world, args []string) {
	file := ts.MkAbs("signing-key")
	switch strings.Join(args, " ") {
	case "key":
		ts.Check(ts.Exec("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", file))
		ts.Setenv("INPUT_SIGNING-KEY", ts.ReadFile(file))
		ts.Setenv("INPUT_SIGNING-PASSPHRASE", passphrase)
	case "verified":
		signers := file + ".signers"
		ts.Check(os.WriteFile(signers, []byte("* "+ts.ReadFile(file+".pub")), 0o600))
		for _, commit := range strings.Fields(w.git(ts, "rev-list", w.seed+"..main")) {
			c := exec.Command("git", "-C", w.bare, "-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", commit)
			if out, err := c.CombinedOutput(); err != nil {
				ts.Fatalf("%s: %v\n%s", c, err, out)
			}
		}
	default:
		ts.Fatalf("sign: unknown words %q", args)
	}
}
