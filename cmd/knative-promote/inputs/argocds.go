package inputs

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/pipeline"
)

// tokenOf is the Argo CD token that an environment of the pipeline file has for
// itself, and the variable that it is in.
func (r *reading) tokenOf(environment string) (text, source string) {
	source = pipeline.TokenVariable(environment)
	if text = strings.TrimSpace(r.getenv(source)); text == "" {
		return "", ""
	}
	return text, source
}

// Tokens are the Argo CD tokens of the environments of a pipeline file, which no
// output may show.
func Tokens(file pipeline.File, getenv func(string) string) []string {
	var tokens []string
	for _, environment := range file.Environments {
		tokens = append(tokens, getenv(pipeline.TokenVariable(environment)))
	}
	return tokens
}

// SourceArgos are how to reach the Argo CDs of the environments that images come
// from, by their overlays. What is not in it is asked as the target is.
type SourceArgos map[string]argo.Config

// findSourceArgos finds out which Argo CDs the environments have that images come
// from, where the pipeline file says another server than for the target, or they
// have a token of their own. The lines are what is missing. The token that is given
// for all is sent to one server alone: the target's, unless that has its own.
func findSourceArgos(s *Settings, r *reading, given origins) (lines []string) {
	if s.Argo.Server == "" {
		return nil
	}
	free := "" // the Argo CD that the token for all is sent to
	if given.source("argocd-token") != pipeline.TokenVariable(r.rules.Environment) {
		free = s.Argo.Server + s.Argo.RootPath
	}
	for _, overlay := range s.Promote.From {
		there, err := r.file.Of(overlay, s.Target.Service)
		if err != nil || !there.Known() {
			continue
		}
		if line := findSourceArgo(s, r, there, argoOf(s, there, r.rules, given), &free); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// findSourceArgo does so for one, whose Argo CD is as c says.
func findSourceArgo(s *Settings, r *reading, there pipeline.Rules, c argo.Config, free *string) (line string) {
	text, source := r.tokenOf(there.Environment)
	elsewhere := c.Server != s.Argo.Server || c.RootPath != s.Argo.RootPath
	forAll := named(All(), "argocd-token")
	if at := c.Server + c.RootPath; text == "" && (*free == "" || *free == at) {
		text, source = forAll.lookUp(nil, r.getenv)
		*free = at
	}
	switch {
	case text == "" && !elsewhere:
		return "" // the target's does for both
	case text == "":
		return fmt.Sprintf("argocd-token: missing for %s: from takes the images from there, and its Argo CD is %s (%s:%d), not %s; set %s",
			there.Environment, c.Server, pipeline.Name, there.Settings["argocd-server"].Line, s.Argo.Server, pipeline.TokenVariable(there.Environment))
	}
	token, err := parseSecret(text)
	if err != nil {
		return forAll.complain(text, source, err)
	}
	if c.Token = token; elsewhere || c.Token != s.Argo.Token {
		if s.SourceArgos == nil {
			s.SourceArgos = SourceArgos{}
		}
		s.SourceArgos[there.Settings["path"].Text] = c
	}
	return ""
}

// argoOf is how the Argo CD of an environment is reached, without its token: as the
// target's, unless the file says another server for it than for the target.
func argoOf(s *Settings, there, here pipeline.Rules, given origins) argo.Config {
	c := s.Argo
	c.Token = ""
	server, root := there.Settings["argocd-server"].Text, there.Settings["argocd-root-path"].Text
	if server == "" || server == here.Settings["argocd-server"].Text && root == here.Settings["argocd-root-path"].Text {
		return c
	}
	c.Server, _ = parseServer(server) // which the file's reader has asked too
	if root != "" {
		c.RootPath, _ = parseRootPath(root)
	} else if bySaid(given.source("argocd-root-path")) {
		c.RootPath = ""
	}
	return c
}

// tokensOfSeveral wants a token for each Argo CD of several environments, before
// anything is promoted in the first of them.
func tokensOfSeveral(s *Settings, r *reading) (line string) {
	first := ""
	for _, environment := range s.Several {
		rules := r.file.Rules(s.Target.Service, environment)
		if rules.Approval > 0 {
			return "" // the run goes no further
		}
		server, _ := r.asked("argocd-server")
		if server == "" {
			server = rules.Settings["argocd-server"].Text
		}
		server, _ = parseServer(server)
		if own, _ := r.tokenOf(environment); own != "" || server == first {
			continue
		}
		if first != "" {
			return fmt.Sprintf("argocd-token: missing for %s: its Argo CD is %s (%s:%d), and argocd-token is for %s; set %s",
				environment, server, pipeline.Name, rules.Settings["argocd-server"].Line, first, pipeline.TokenVariable(environment))
		}
		first = server
	}
	return ""
}
