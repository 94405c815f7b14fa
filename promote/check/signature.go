package check

import (
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/review"
)

// signatureRules are about projects that want signed commits.
func signatureRules() []Rule {
	return []Rule{rule("signature-required", findSignature), rule("signature-of-others", findSignatureOfOthers)}
}

func findSignature(f Facts) []found {
	wanted := signatures(f)
	if wanted == nil || f.Request.signs(*wanted) {
		return nil
	}
	forge, unnamed, signer := "", "", f.Request.Signer
	switch {
	case f.Request.leavesToForge() && !f.Request.forgeSigns(*wanted):
		forge = "merges"
		if f.Request.ByAPI {
			forge = "commits"
		}
	case signer != nil && signer.OpenPGP:
		unnamed = signer.ID
	}
	return []found{{values: values{
		"Forge": forge, "ForgeKey": f.Request.ForgeKey, "Signer": signer, "Unnamed": unnamed, "Keys": wanted.Keys, "Condition": badSignature(f.Setup.App),
	}}}
}

func findSignatureOfOthers(f Facts) []found {
	wanted := signatures(f)
	if wanted == nil || !f.Request.signs(*wanted) {
		return nil
	}
	condition := badSignature(f.Setup.App)
	unsigned := wanted.Ancestors && condition != nil
	return []found{{severity: errorIf(unsigned), values: values{"Unsigned": unsigned, "Keys": wanted.Keys, "Condition": condition}}}
}

// signatures are what the project wants of the commits; nil: nothing.
func signatures(f Facts) *argo.Signatures {
	source, _ := f.source()
	if f.Setup.Project == nil || source == nil {
		return nil
	}
	return argo.SignaturesOf(f.Setup.Project, source.RepoURL)
}

// signs tells whether all commits of a promotion are signed as the project wants it.
func (r Request) signs(wanted argo.Signatures) bool {
	return (!r.pushes() || r.signsItself(wanted)) && (!r.leavesToForge() || r.forgeSigns(wanted))
}

// pushes tells whether some commits come to the branch as the promotion makes them.
func (r Request) pushes() bool { return !r.ByAPI && r.Mode != review.Every }

// leavesToForge tells whether the forge makes some of the branch's commits.
func (r Request) leavesToForge() bool {
	return r.ByAPI || r.Mode == review.First || r.Mode == review.Every
}

func (r Request) signsItself(wanted argo.Signatures) bool {
	return r.Signer != nil && r.Signer.OpenPGP && slices.Contains(wanted.Keys, r.Signer.ID)
}

// forgeSigns tells whether the project names the forge's key, or may where that is
// not known: some other key than the promotion's own.
func (r Request) forgeSigns(wanted argo.Signatures) bool {
	if r.ForgeKey != "" {
		return slices.Contains(wanted.Keys, r.ForgeKey)
	}
	return slices.ContainsFunc(wanted.Keys, func(key string) bool { return r.Signer == nil || key != r.Signer.ID })
}

// badSignatures are what Argo CD says of a commit whose signature it does not accept, 2.14
// and since 3.5.
func badSignatures() []string {
	return []string{"signature is required", "this key is not allowed in AppProject", "Could not verify commit signature", "Failed verifying revision"}
}

func badSignature(app *v1alpha1.Application) *v1alpha1.ApplicationCondition {
	for _, text := range badSignatures() {
		if condition := conditionWith(app, text); condition != nil {
			return condition
		}
	}
	return nil
}
