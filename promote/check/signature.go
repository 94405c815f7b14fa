package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/review"
)

// signatureRules are about projects that want signed commits.
func signatureRules() []Rule {
	const link = "https://argo-cd.readthedocs.io/en/stable/user-guide/gpg-verification/"
	return []Rule{
		{
			ID: "signature-required", Severity: event.SeverityError, Find: findSignature, Link: link,
			Summary: "the project wants signed commits",
		},
		{
			ID: "signature-of-others", Severity: event.SeverityInfo, Find: findSignatureOfOthers, Link: link,
			Summary: "the project wants everybody's commits signed",
		},
	}
}

// findSignature cannot see whether the repo server verifies signatures at all,
// which is the default, nor which keys its key ring holds.
func findSignature(f Facts) []event.Finding {
	wanted := f.signatures()
	if wanted == nil || f.signs(*wanted) {
		return nil
	}
	finding := f.signatureFinding(*wanted)
	f.signedOtherwise(*wanted, &finding)
	return []event.Finding{finding}
}

func findSignatureOfOthers(f Facts) []event.Finding {
	wanted := f.signatures()
	if wanted == nil || !f.signs(*wanted) {
		return nil
	}
	finding := f.signatureFinding(*wanted)
	finding.Effect = "A promotion's commits are signed with one of them. A commit of somebody else that is not keeps Argo CD from syncing until a signed one follows."
	finding.Fix = "Let the branch take signed commits alone, on the forge."
	if wanted.Ancestors && f.badSignature() != nil {
		finding.Severity = event.SeverityError
		finding.Effect = "One of the commits that are there is not signed by such a key, and Argo CD syncs none that comes after it."
		finding.Fix = "Let somebody who has such a key accept the history with a signed commit that seals it, before the promotion:\ngit commit --gpg-sign --allow-empty --trailer 'Argocd-gpg-seal: REASON'"
	}
	return []event.Finding{finding}
}

// signatures are what the project wants of the commits; nil: nothing.
func (f Facts) signatures() *argo.Signatures {
	source, _ := f.source()
	if f.Setup.Project == nil || source == nil {
		return nil
	}
	return argo.SignaturesOf(f.Setup.Project, source.RepoURL)
}

// signs tells whether all commits of a promotion are signed as the project wants it.
func (f Facts) signs(wanted argo.Signatures) bool {
	return (!f.Request.pushes() || f.signsItself(wanted)) && (!f.Request.leavesToForge() || f.forgeSigns(wanted))
}

// pushes tells whether some commits come to the branch as the promotion makes them.
func (r Request) pushes() bool { return !r.ByAPI && r.Mode != review.Every }

// leavesToForge tells whether the forge makes some of the branch's commits.
func (r Request) leavesToForge() bool {
	return r.ByAPI || r.Mode == review.First || r.Mode == review.Every
}

func (f Facts) signsItself(wanted argo.Signatures) bool {
	signer := f.Request.Signer
	return signer != nil && signer.OpenPGP && slices.Contains(wanted.Keys, signer.ID)
}

// forgeSigns tells whether the project names the forge's key, or may where that is
// not known: some other key than the promotion's own.
func (f Facts) forgeSigns(wanted argo.Signatures) bool {
	if f.Request.ForgeKey != "" {
		return slices.Contains(wanted.Keys, f.Request.ForgeKey)
	}
	signer := f.Request.Signer
	return slices.ContainsFunc(wanted.Keys, func(key string) bool { return signer == nil || key != signer.ID })
}

func (f Facts) signatureFinding(wanted argo.Signatures) event.Finding {
	finding := event.Finding{
		Problem:  fmt.Sprintf("Project %s wants commits that are signed with GnuPG", f.Setup.Project.Name),
		Evidence: "keys of the project: " + strings.Join(wanted.Keys, ", "),
	}
	if condition := f.badSignature(); condition != nil {
		finding.Evidence += "\n" + string(condition.Type) + ": " + condition.Message
	}
	return finding
}

// signedOtherwise completes the finding by what the promotion's commits are signed with.
func (f Facts) signedOtherwise(wanted argo.Signatures, finding *event.Finding) {
	const refused = " Argo CD refuses to sync the first one, and the one that rolls it back: what is live stays as it was, with a ComparisonError."
	finding.Fix = "Set signing-key to an OpenPGP key that Argo CD has, and name its id in the project:\n" + f.editProject()
	switch signer := f.Request.Signer; {
	case f.Request.leavesToForge() && !f.forgeSigns(wanted):
		finding.Effect = f.forgeEffect() + refused
		finding.Fix = "Set mode to push, commit to git, and signing-key to an OpenPGP key that Argo CD has, and name its id in the project. The forge's key would do too, but signs whatever anybody merges:\n" + f.editProject()
	case signer == nil:
		finding.Effect = "A promotion's commits are not signed." + refused
	case !signer.OpenPGP:
		finding.Effect = fmt.Sprintf("A promotion's commits are signed with %s, and Argo CD verifies OpenPGP signatures alone.%s", signer, refused)
	default:
		finding.Effect = fmt.Sprintf("A promotion's commits are signed with %s, which the project does not name.%s", signer, refused)
		finding.Fix = fmt.Sprintf("Add %s to the keys of the project, and its public part to those of Argo CD:\n%s\nargocd gpg add --from KEY.asc", signer.ID, f.editProject())
	}
}

// forgeEffect is what comes of commits that the forge makes.
func (f Facts) forgeEffect() string {
	what := "What the forge merges"
	if f.Request.ByAPI {
		what = "What the forge commits"
	}
	if f.Request.ForgeKey == "" {
		return what + " is signed with a key of its own, or not at all, and the project names none but yours."
	}
	return fmt.Sprintf("%s is signed with its key %s, which the project does not name.", what, f.Request.ForgeKey)
}

func (f Facts) editProject() string {
	return fmt.Sprintf("kubectl -n %s edit appproject %s", f.argocd(), f.Setup.Project.Name)
}

// badSignatures are what Argo CD says of a commit whose signature it does not accept, 2.14
// and since 3.5.
func badSignatures() []string {
	return []string{"signature is required", "this key is not allowed in AppProject", "Could not verify commit signature", "Failed verifying revision"}
}

func (f Facts) badSignature() *v1alpha1.ApplicationCondition {
	for _, text := range badSignatures() {
		if condition := conditionWith(f.Setup.App, text); condition != nil {
			return condition
		}
	}
	return nil
}
