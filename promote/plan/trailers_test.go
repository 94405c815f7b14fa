package plan

import (
	"testing"

	"github.com/acme/knative-promote/promote/record"
)

// TestForeignReason holds that a forge acts on nothing that a gate's answer says, and that
// people may refer to what they like.
func TestForeignReason(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"@acme/owners closes #7, fixes acme/web#8":                                           "@ acme/owners closes # 7, fixes acme/web# 8",
		"resolves GH-9, said (@ada)":                                                         "resolves GH- 9, said (@ ada)",
		"closes https://github.com/acme/web/issues/7 and https://github.com/acme/web/pull/8": "closes https://github.com/acme/web/issues/ 7 and https://github.com/acme/web/pull/ 8",
		"closes !7, acme/web!8, https://gitea.example.com/acme/web/pulls/7, fixes https://gitlab.example.com/acme/web/-/merge_requests/9, 100 %!": "closes ! 7, acme/web! 8, https://gitea.example.com/acme/web/pulls/ 7, fixes https://gitlab.example.com/acme/web/-/merge_requests/ 9, 100 %!",
		"[skip ci] it, [CI skip], [no ci] [ skip actions] [actions skip], but items[].skip":                                                       "(skip ci] it, (CI skip], (no ci] ( skip actions] (actions skip], but items[].skip",
		"image ghcr.io/acme/web:v2@sha256:4711 for ada@example.com # not":                                                                         "image ghcr.io/acme/web:v2@sha256:4711 for ada@example.com # not",
	} {
		for step, want := range map[string]string{record.Restore: want, record.Rollback: reason} {
			trailers := Trailers(Settings{}, Plan{}, step, "", "", reason)
			if got := trailers[len(trailers)-1]; got.Key != TrailerReason || got.Value != want {
				t.Errorf("%s: got %q, want %q", step, got, want)
			}
		}
	}
}
