package main

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestCertificateSurvivesARestart shows that the CA that the API server was told stays the right one.
func TestCertificateSurvivesARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "admission.pem")
	first, err := certificate(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeCA(file, first); err != nil {
		t.Fatal(err)
	}
	second, err := certificate(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Certificate[0], second.Certificate[0]) {
		t.Error("the second start made another certificate")
	}
	other, err := certificate(filepath.Join(t.TempDir(), "admission.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first.Certificate[0], other.Certificate[0]) {
		t.Error("another file has the same certificate")
	}
}
