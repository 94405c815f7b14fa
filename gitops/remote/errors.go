package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/acme/knative-promote/internal/oneline"
)

// The errors that a caller may tell apart with errors.Is.
var (
	// ErrAuth: the server did not accept the credentials, or not for this.
	ErrAuth = errors.New("access denied")
	// ErrUnreachable: the server does not answer, or asks to be left alone, which may pass.
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrFailing: the server answers, but not as it should, which may pass.
	ErrFailing = errors.New("the server does not answer as it should")
	// ErrNotFound: there is no such repository, branch or commit.
	ErrNotFound = errors.New("not found")
	// ErrRefused: the server's hooks or branch protection do not take the commit.
	ErrRefused = errors.New("refused by the server")
	// ErrRaced: the branch is no longer where a push expects it.
	ErrRaced = errors.New("the branch has moved")
)

// remarksLimit bounds what is kept of what a server says beside its answer, in bytes.
const remarksLimit = 1600

// brief is oneline.Brief for text that may repeat what we sent.
func (r *Remote) brief(text string) string { return oneline.Brief(r.sent.Hide(text)) }

// explain turns an error of go-git into one for the user: with the address,
// without anything that the server could have smuggled into it.
func (r *Remote) explain(doing string, err error, said *remarks) error {
	if err == nil || errors.Is(err, ErrRaced) {
		return err
	}
	where := doing + " " + oneline.Brief(r.address)
	if refused, ok := errors.AsType[*refusal](err); ok {
		return &refusal{where, r.brief(refused.reason + said.because())}
	}
	text, kind := r.brief(err.Error()+said.because()), kindOf(err)
	_, before := errors.AsType[*doubtfulRefusal](err)
	switch {
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fmt.Errorf("%s: %w: the repository is empty, push a first commit", where, ErrNotFound)
	case errors.Is(kind, ErrAuth) && r.auth == nil && r.mint == nil:
		return fmt.Errorf("%s: %w: no token was given: give one that may read and write the repository (%s)", where, kind, text)
	case errors.Is(kind, ErrAuth):
		return fmt.Errorf("%s: %w: check that the token or key is valid and may read and write the repository (%s)", where, kind, text)
	case errors.Is(kind, ErrNotFound) && before:
		return fmt.Errorf("%s: %w: not found, though it was there before: is the token revoked, or the repository moved or deleted?", where, ErrAuth)
	case errors.Is(kind, ErrNotFound):
		return fmt.Errorf("%s: %w: check the address, and that the token or key may see it", where, kind)
	case kind != nil:
		// The text ends with the kind already, unless it was cut.
		text = strings.TrimSuffix(strings.TrimSuffix(text, kind.Error()), ": ")
		return fmt.Errorf("%s: %w", strings.TrimSuffix(where+": "+text, ": "), kind)
	}
	if after := retryAfter(err); after > 0 {
		return unreachable{fmt.Errorf("%s: %s: it asks to wait for %s", where, text, after.Round(time.Second)), after}
	}
	if isUnreachable(err) {
		return unreachable{fmt.Errorf("%s: %s", where, text), 0}
	}
	return failing{fmt.Errorf("%s: %s", where, text)}
}

// failing marks what a server says that can mean anything.
type failing struct{ error }

// Is tells that it is ErrFailing.
func (failing) Is(target error) bool { return target == ErrFailing }

// MayPass tells whether what a server says may be otherwise later, though it was tried again for a while: it is down, or fails, or refuses a
// push, as in a maintenance. A token that it does not take, and what is not there, stay as they are.
func MayPass(err error) bool {
	for _, passing := range []error{ErrUnreachable, ErrFailing, ErrRefused} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// kindOf finds what a caller may branch on. The original is not kept in the
// chain, because its text is foreign.
func kindOf(err error) error {
	if key, ok := errors.AsType[*knownhosts.KeyError](err); ok {
		if len(key.Want) == 0 {
			return fmt.Errorf("%w: the server's host key is not in ssh-known-hosts: add the line that `ssh-keyscan` prints for it", ErrAuth)
		}
		return fmt.Errorf("%w: the server shows another host key than ssh-known-hosts has", ErrAuth)
	}
	for _, denied := range []error{ErrAuth, transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed, transport.ErrInvalidAuthMethod} {
		if errors.Is(err, denied) {
			return ErrAuth
		}
	}
	// x/crypto/ssh has no type for a key that the server does not take.
	if strings.Contains(err.Error(), "ssh: unable to authenticate") {
		return ErrAuth
	}
	if errors.Is(err, transport.ErrRepositoryNotFound) {
		return ErrNotFound
	}
	if large, ok := errors.AsType[bound](err); ok {
		return large
	}
	for _, kept := range []error{context.Canceled, context.DeadlineExceeded, errRedirected} {
		if errors.Is(err, kept) {
			return kept
		}
	}
	return nil
}

// NoBranch names the branches that there are, as far as there is room, unless
// the branch has been there.
func (r *Remote) NoBranch(branch plumbing.ReferenceName, references map[string]plumbing.Hash, before bool) error {
	if before {
		return fmt.Errorf("branch %s of %s: %w: it was there before and is gone now: was it renamed or deleted?", branch.Short(), oneline.Brief(r.address), ErrNotFound)
	}
	var names []string
	for name := range references {
		if short, ok := strings.CutPrefix(name, "refs/heads/"); ok {
			names = append(names, oneline.Brief(short))
		}
	}
	slices.Sort(names)
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return fmt.Errorf("branch %s of %s: %w: expected one of %s", branch.Short(), oneline.Brief(r.address), ErrNotFound, strings.Join(names, ", "))
}

// IsFinal tells whether another push of the same commit would be pointless.
func (r *Remote) IsFinal(pushed error) bool {
	if no, ok := errors.AsType[*refusal](pushed); ok {
		return no.isFinal()
	}
	return !r.pushed.Load() && (errors.Is(pushed, ErrAuth) || errors.Is(pushed, ErrNotFound))
}

// IsRefusal tells whether the server has answered a push with no.
func IsRefusal(pushed error) bool {
	_, no := errors.AsType[*refusal](pushed)
	return no
}

// Refused gives a no of the server its name, ErrRefused. Other errors stay.
func Refused(pushed error) error {
	if no, ok := errors.AsType[*refusal](pushed); ok {
		return fmt.Errorf("%s: %w: %s: let the token's owner push to the branch, or change the rule", no.where, ErrRefused, strings.TrimSuffix(no.reason, "."))
	}
	return pushed
}

// refusal is a push that the server answered with no.
type refusal struct{ where, reason string }

func (e *refusal) Error() string { return e.where + ": " + e.reason }

// isFinal tells a decision of the server's hooks or rules, which stays, from a
// lock or a race, which passes. It saves attempts and decides nothing else.
func (e *refusal) isFinal() bool {
	text := strings.ToLower(e.reason)
	for _, word := range []string{"declined", "denied", "protected", "prohibited", "violation"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// remarks are what the server says beside its answer, bounded.
type remarks struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the first lines.
func (s *remarks) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p[:min(len(p), remarksLimit-len(s.text))]...)
	return len(p), nil
}

func (s *remarks) because() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for line := range strings.SplitSeq(oneline.Cut(string(s.text), remarksLimit-1), "\n") { // its last word may not be whole
		// Hosts write "error:" before what they say, Gitea before and after it too.
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "error:"))
		if line != "" {
			lines = append(lines, line)
		}
	}
	if text := oneline.Brief(strings.Join(lines, " ")); text != "" {
		return ": " + text
	}
	return ""
}
