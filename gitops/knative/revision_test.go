package knative

import "testing"

func TestSameForm(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]bool{
		"shop-8d979896":  true,
		"shop-00000001":  true,
		"shop-00001":     false, // generated
		"shop-8d97989":   false, // of another length
		"shop-v1-8d9798": false,
		"cart-8d979896":  false,
		"shop-release1":  false, // given by hand
	} {
		if got := sameForm(revision, "shop-48bd393d"); got != want {
			t.Errorf("%s: %t", revision, got)
		}
	}
	if sameForm("shop-00001", "shop-ab12f") {
		t.Error("a generated name of five digits is taken for a hash of five")
	}
}
