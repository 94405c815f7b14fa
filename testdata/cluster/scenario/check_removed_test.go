//go:build cluster

package scenario

import (
	"strings"
	"testing"
)

// TestCheckRemovedConfig: after a pull request Git does not have any more what the revision with the traffic reads, so
// that Argo CD deletes it, or keeps it where what diff says was done before.
func TestCheckRemovedConfig(t *testing.T) {
	t.Parallel()
	const finding = "config-removed"
	t.Run("kept", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, withSettings)
		s.promote("v2.0.0", "steps=100").exits(0)
		read := s.settings()
		r := s.diff(s.propose("./settings.env", "COLOUR=green\n")).says(finding)
		s.prepared("./settings.env", "COLOUR=green\n")
		if s.has(read) {
			t.Errorf("the ConfigMap %s of the revision with the traffic is still there", read)
		}
		s.begin("promote", "image=unchanged", "steps=100").wait().exits(0)

		_, options, found := strings.Cut(r.log.String(), "generatorOptions:")
		if !found {
			t.Fatal("diff prints no options of the generator")
		}
		options, _, _ = strings.Cut(options, "IgnoreExtraneous")
		s.patchOverlay("generatorOptions:" + options + "IgnoreExtraneous\n")
		s.refresh()
		s.becomes("Synced", "Healthy")
		read = s.settings()
		before := s.live().Spec.Template.Name
		if r := s.diff(s.propose("./settings.env", "COLOUR=blue\n")); strings.Contains(r.log.String(), finding) {
			t.Errorf("%s is found once Argo CD keeps it", finding)
		}
		s.prepared("./settings.env", "COLOUR=blue\n")
		s.begin("promote", "image=unchanged", "steps=50,100").wait().exits(0)
		s.begin("rollback").wait().exits(0)
		if a := s.ask(s.host()); a.Revision != before || !s.has(read) {
			t.Errorf("revision %s answers, want %s, and the ConfigMap %s that it reads is there: %v", a.Revision, before, read, s.has(read))
		}
	})
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, odd("        envFrom: [{configMapRef: {name: red}}]\n"), beside(t, colours("red")))
		s.promote("v2.0.0", "steps=100").exits(0)
		if r := s.diff(s.propose("./beside.yaml", colours("red", "green"))); strings.Contains(r.log.String(), finding) {
			t.Errorf("%s is found, and nothing was taken out", finding)
		}
		s.push("Add a colour", map[string]string{"./beside.yaml": colours("red", "green")})
		s.push("Read it", map[string]string{baseOf(s.Service): replaced(t, s.read(baseOf(s.Service)), "name: red", "name: green")})
		s.begin("promote", "image=unchanged", "steps=50,100").wait().exits(0)
		if r := s.diff(s.propose("./beside.yaml", colours("green"))); strings.Contains(r.log.String(), finding) {
			t.Errorf("%s is found of what only an older revision reads", finding)
		}
		s.push("Take the old one out", map[string]string{"./beside.yaml": colours("green")})
		s.promote("v3.0.0", "steps=50,100").exits(0)
		s.settled("v3.0.0")
		s.begin("rollback").wait().exits(0)
		s.settled("v2.0.0")
	})
}

// diff shows a pull request, whatever it finds.
func (s *site) diff(p proposal) *run {
	s.Helper()
	return s.begin("diff", append(p.environment(), "fail-on=never")...).wait().exits(0)
}

// prepared proposes a file's content, prepares the pull request and merges it, until Argo CD has synced that.
func (s *site) prepared(file, content string) {
	s.Helper()
	before := s.live().Spec.Template.Name
	s.begin("prepare", s.propose(file, content).environment()...).wait().exits(0)
	s.propose("", "").merged([]string{"merge", "--no-ff"})
	s.refresh()
	s.eventually("the merge is live, and nobody gets it", func() bool {
		now := s.live()
		return now.Spec.Template.Name != before && share(now.Status.Traffic, before) == 100 && now.IsReady()
	})
	s.becomes("Synced", "Healthy")
}

// colours are ConfigMaps.
func colours(names ...string) string {
	var all strings.Builder
	for _, name := range names {
		all.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {COLOUR: " + name + "}\n---\n")
	}
	return strings.TrimSuffix(all.String(), "---\n")
}
