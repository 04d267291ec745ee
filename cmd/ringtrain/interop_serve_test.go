package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// certificates writes the files of an authority and of two certificates that it has signed: ca.pem,
// server.pem, server.key, client.pem, client.key.
func (b *box) certificates() {
	b.Helper()
	var authority *x509.Certificate
	var signer *ecdsa.PrivateKey
	for i, name := range []string{"ca", "server", "client"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: i == 0, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}
		if i == 0 {
			c.KeyUsage, authority, signer = x509.KeyUsageCertSign, c, key
		}
		der, err := x509.CreateCertificate(rand.Reader, c, authority, &key.PublicKey, signer)
		if err != nil {
			b.Fatal(err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			b.Fatal(err)
		}
		b.write(name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
		b.write(name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	}
}

// TestInteropServe verifies that grpcurl and curl ask a server by TLS with a certificate of the client,
// and that neither gets an answer without one; and that KServe's client asks a server in clear.
func TestInteropServe(t *testing.T) {
	grpcurl, kserve := os.Getenv("GRPCURL"), os.Getenv("KSERVE_PYTHON")
	if grpcurl == "" || kserve == "" {
		t.Skip("set GRPCURL to grpcurl, and KSERVE_PYTHON to a python with kserve, to ask a server by them")
	}
	b := newBox(t)
	b.certificates()
	b.publish("half", 1)
	p, rest, rpc := b.served("half", "--tls-cert", "server.pem", "--tls-key", "server.key", "--tls-client-ca", "ca.pem")
	p.await("curl ")
	rest = strings.Replace(rest, "http:", "https:", 1)
	trust, mine := []string{"-cacert", "ca.pem"}, []string{"-cert", "client.pem", "-key", "client.key"}
	for _, tt := range []struct {
		name    string
		program string
		args    []string
		code    int
		want    string
	}{
		{"list", grpcurl, append(append([]string{}, mine...), rpc, "list"), 0, "tensorflow.serving.PredictionService"},
		{"describe", grpcurl, append(append([]string{}, mine...), rpc, "describe", "tensorflow.serving.PredictionService"), 0, "rpc Predict ( .tensorflow.serving.PredictRequest )"},
		{"call", grpcurl, append(append([]string{"-d", `{"model_spec": {"name": "half"}, "inputs": {"x": {"dtype": "DT_FLOAT", "tensor_shape": {"dim": [{"size": 1}, {"size": 1}]}, "float_val": [3]}}}`}, mine...), rpc, "tensorflow.serving.PredictionService/Predict"), 0, "3.5"},
		{"health", grpcurl, append(append([]string{}, mine...), rpc, "grpc.health.v1.Health/Check"), 0, "SERVING"},
		{"without a certificate", grpcurl, []string{rpc, "list"}, 1, ""},
	} {
		e := b.startProgram(tt.program, append(append([]string{}, trust...), tt.args...)...).wait()
		if e.code != tt.code || !strings.Contains(e.stdout, tt.want) {
			t.Errorf("grpcurl, %s: ended with %d and says %s%s", tt.name, e.code, e.stdout, e.stderr)
		}
	}
	ask := []string{"-s", "--cacert", "ca.pem", rest + "/v1/models/half:predict", "-d", `{"instances": [[3]]}`}
	if e := b.startProgram("curl", append(ask, "--cert", "client.pem", "--key", "client.key")...).wait(); !strings.Contains(e.stdout, "3.5") {
		t.Errorf("curl ended with %d and says %s%s", e.code, e.stdout, e.stderr)
	}
	if e := b.startProgram("curl", ask...).wait(); e.code == 0 {
		t.Errorf("curl without a certificate says %s", e.stdout)
	}
	clear, rest, _ := b.served("half")
	clear.await("curl ")
	script, err := filepath.Abs("../../export/savedmodel/interop/ask_kserve.py")
	if err != nil {
		t.Fatal(err)
	}
	if e := b.startProgram(kserve, script, rest, "half", `{"instances": [[3.0]]}`).wait(); e.stdout != "{\"predictions\": [[3.5]]}\n" {
		t.Errorf("KServe's client ended with %d and says %s%s", e.code, e.stdout, e.stderr)
	}
	for _, s := range []*testProcess{p, clear} {
		s.signal(syscall.SIGTERM)
		if e := s.wait(); e.code != 0 {
			t.Errorf("the server ended with %d\n%s", e.code, e.stderr)
		}
	}
}
