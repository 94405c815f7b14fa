package report

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	rendering "github.com/yuin/goldmark/renderer/html"
)

// renderedHTML is the HTML that a Markdown renderer with GitHub's extensions makes
// of a page. Raw HTML passes, so that what slips through is seen.
func renderedHTML(t *testing.T, page string) string {
	t.Helper()
	var b bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(rendering.WithUnsafe()))
	if err := markdown.Convert([]byte(page), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	codeSpans = regexp.MustCompile(`(?s)<code[^>]*>(.*?)</code>`)
	htmlTags  = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

	// ours are the tags that the templates of this package make.
	ownTags = regexp.MustCompile(`^<(/?(h2|h3|p|strong|table|thead|tbody|tr|ul|li|pre|details|summary|sub)|details open|t[hd]( style="text-align:right")?|/t[hd]|a href="https://(github\.com/acme|argo-cd\.readthedocs\.io/en)/[a-z0-9/-]+"|/a|code|!-- knative-promote:[^ <>]+ --)>$`)
)

// summaryRoom is what a summary may take in the tests.
const summaryRoom = 900 << 10

// checkPage holds what is true of every page, whatever was put into it: its
// length, its characters, and that outside code there are only our own tags
// and no text that GitHub would turn into a mention or a link.
func checkPage(t *testing.T, page string, limit int) {
	t.Helper()
	if len(page) > limit {
		t.Errorf("%d bytes, limit %d", len(page), limit)
	}
	if !utf8.ValidString(page) {
		t.Errorf("not UTF-8")
	}
	for _, r := range page {
		if r != '\n' && r != '\t' && r != '\ufe0f' && !unicode.IsPrint(r) {
			t.Errorf("%U in the page", r)
		}
	}
	out := codeSpans.ReplaceAllString(renderedHTML(t, page), "<code>")
	for _, tag := range htmlTags.FindAllString(out, -1) {
		if !ownTags.MatchString(tag) {
			t.Errorf("foreign tag %s", tag)
		}
	}
	balanced(t, out)
	prose := html.UnescapeString(htmlTags.ReplaceAllString(out, ""))
	if strings.ContainsAny(prose, "@#`[]<>") || strings.Contains(prose, "://") {
		t.Errorf("foreign text outside code: %q", prose)
	}
}

// balanced checks that nothing folds away what follows it.
func balanced(t *testing.T, out string) {
	t.Helper()
	for _, name := range []string{"details", "summary", "sub", "table", "pre"} {
		opened := len(regexp.MustCompile(`<`+name+`[ >]`).FindAllString(out, -1))
		if closed := strings.Count(out, "</"+name+">"); opened != closed {
			t.Errorf("%d <%s> and %d </%s>", opened, name, closed, name)
		}
	}
}

// inCode returns the texts of all code in the rendered page.
func inCode(t *testing.T, page string) []string {
	t.Helper()
	var texts []string
	for _, match := range codeSpans.FindAllStringSubmatch(renderedHTML(t, page), -1) {
		texts = append(texts, html.UnescapeString(match[1]))
	}
	return texts
}
