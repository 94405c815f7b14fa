package plane

// giteaProgram needs cgo for its database.
func giteaProgram() program {
	return program{Name: "gitea", Package: "code.gitea.io/gitea", CGO: true, Tags: "sqlite sqlite_unlock_notify", LDFlags: "-X main.Version=1.26.0"}
}
