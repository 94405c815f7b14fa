package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// certificate is the pair in file and file.key, or a new one whose key it writes. The API server keeps the CA that it was
// told when the webhook was registered, so a command that is started again has to be the same to it.
func certificate(file string) (tls.Certificate, error) {
	if pair, err := tls.LoadX509KeyPair(file, file+".key"); err == nil {
		return pair, nil
	}
	pair, err := selfSigned()
	if err != nil {
		return pair, fmt.Errorf("making the admission certificate: %w", err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return pair, fmt.Errorf("encoding the admission key: %w", err)
	}
	if err := os.WriteFile(file+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600); err != nil {
		return pair, fmt.Errorf("writing the admission key: %w", err)
	}
	return pair, nil
}

// selfSigned makes a certificate for loopback that is its own CA.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "admission"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// writeCA writes the file whole or not at all: somebody waits for it.
func writeCA(file string, pair tls.Certificate) error {
	part := file + ".part"
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	if err := os.WriteFile(part, ca, 0o644); err != nil {
		return fmt.Errorf("writing the admission CA: %w", err)
	}
	if err := os.Rename(part, file); err != nil {
		return fmt.Errorf("writing the admission CA: %w", err)
	}
	return nil
}
