package check

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// Where people find the tool and its rules.
const (
	homepage  = "https://github.com/acme/knative-promote"
	sarifText = "https://json.schemastore.org/sarif-2.1.0.json"
)

// The parts of SARIF 2.1.0 that code scanning shows:
// https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool              sarifTool              `json:"tool"`
		AutomationDetails sarifAutomationDetails `json:"automationDetails"`
		Results           []sarifResult          `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifAutomationDetails struct {
		ID string `json:"id"`
	}
	sarifRule struct {
		ID               string             `json:"id"`
		ShortDescription sarifMessage       `json:"shortDescription"`
		HelpURI          string             `json:"helpUri"`
		Help             sarifMarkdown      `json:"help"`
		Default          sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifMarkdown struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// SARIF is the report for code scanning. The version is the tool's.
func (r Report) SARIF(version string) ([]byte, error) {
	rules := Rules()
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "knative-promote", Version: version, InformationURI: homepage, Rules: described(rules)}},
		// The category: without it the report of one overlay replaces that of another.
		AutomationDetails: sarifAutomationDetails{"knative-promote/" + path.Join(r.Overlay, r.Service) + "/"},
		Results:           []sarifResult{},
	}
	seen := map[string]int{}
	for _, f := range r.Findings {
		print := r.fingerprint(f)
		seen[print]++
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, RuleIndex: slices.IndexFunc(rules, func(rule Rule) bool { return rule.ID == f.Rule }),
			Level: level(f.Severity), Message: sarifMessage{message(f)}, Locations: []sarifLocation{{r.location(f)}},
			Fingerprints: map[string]string{"primaryLocationLineHash": fmt.Sprintf("%s:%d", print, seen[print])},
		})
	}
	text, err := json.MarshalIndent(sarifLog{sarifText, "2.1.0", []sarifRun{run}}, "", "  ")
	return append(text, '\n'), err
}

func described(rules []Rule) []sarifRule {
	var all []sarifRule
	for _, rule := range rules {
		all = append(all, sarifRule{
			ID: rule.ID, ShortDescription: sarifMessage{rule.Summary}, HelpURI: rule.Link, Default: sarifConfiguration{level(rule.Severity)},
			Help: sarifMarkdown{rule.Summary + ". See " + rule.Link, rule.Summary + ". [Upstream documentation](" + rule.Link + ")"},
		})
	}
	return all
}

func level(s event.Severity) string { return [...]string{"note", "warning", "error"}[s] }

// message is what code scanning shows of a finding. It knows no layout but
// line breaks.
func message(f event.Finding) string {
	parts := []string{f.Problem + ".", f.Effect, "Seen: " + f.Evidence, "To fix it: " + f.Fix}
	parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasSuffix(p, ": ") || p == "" })
	return strings.ReplaceAll(strings.Join(parts, "\n\n"), "](", "] (") // no link of somebody else's
}

// location is where code scanning shows a finding. It shows none without a
// file, and no place but a line.
func (r Report) location(f event.Finding) sarifPhysical {
	file := url.URL{Path: cmp.Or(f.File, r.File)}
	return sarifPhysical{sarifArtifact{file.String(), "%SRCROOT%"}, sarifRegion{max(f.Line, 1)}}
}

var numbers = regexp.MustCompile(`[0-9]+`)

// fingerprint is the same for the same finding of another day: lines and
// numbers, such as the days that a token has left, do not count.
func (r Report) fingerprint(f event.Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, r.Overlay, r.Service, f.File, numbers.ReplaceAllString(f.Problem, "0")}, "\n")))
	return hex.EncodeToString(sum[:8])
}
