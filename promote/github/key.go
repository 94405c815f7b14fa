package github

// KeyOf is the id of the OpenPGP key with which a forge signs what is made by its
// API and its buttons; empty: not known. GitHub Enterprise Server, Gitea and Forgejo
// sign with keys of their own, or not at all (https://github.com/web-flow.gpg).
func KeyOf(serverURL string) string {
	if serverURL == "https://github.com" {
		return "B5690EEEBB952194"
	}
	return ""
}
