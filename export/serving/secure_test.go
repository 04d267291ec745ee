package serving

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"ringtrain/export/serving/servingpb"
	"ringtrain/ring/exitcode"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key}
	a.cert = a.sign(t, key, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) sign(t *testing.T, key *ecdsa.PrivateKey, c *x509.Certificate) *x509.Certificate {
	t.Helper()
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent := a.cert
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// write writes a certificate for localhost and its key. The file of the certificate has a time of its
// own, so that a change is seen however fast it follows.
func (a *authority) write(t *testing.T, c Certificates, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := a.sign(t, key, &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, c.Key, "EC PRIVATE KEY", der)
	writePEM(t, c.Cert, "CERTIFICATE", cert.Raw)
	at := time.Unix(1e9+serial, 0)
	if err := os.Chtimes(c.Cert, at, at); err != nil {
		t.Fatal(err)
	}
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTLS verifies that a client with a certificate of the authority is answered, and one without is
// not; that a new certificate of the server is taken without a restart; and that a broken one is told
// and leaves the old one in place.
func TestTLS(t *testing.T) {
	dir, a := t.TempDir(), newAuthority(t)
	server := Certificates{Cert: filepath.Join(dir, "s.pem"), Key: filepath.Join(dir, "s.key"), ClientCA: filepath.Join(dir, "ca.pem")}
	client := Certificates{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "c.key")}
	a.write(t, server, 10)
	a.write(t, client, 20)
	writePEM(t, server.ClientCA, "CERTIFICATE", a.cert.Raw)
	var told []string
	config, err := TLS(server, func(err error) { told = append(told, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(client.Cert, client.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	m, metrics := exampleModels(t)
	options := Options{MaxBody: 1 << 20, Timeout: time.Minute, Metrics: metrics}
	secure := func(l net.Listener) net.Listener { return tls.NewListener(l, config) }
	// ask returns the serial number of the certificate of the server.
	ask := func(certificates ...tls.Certificate) (int64, error) {
		conn := dial(t, m, options, secure, credentials.NewTLS(&tls.Config{RootCAs: roots, Certificates: certificates, ServerName: "localhost"}))
		var of peer.Peer
		_, err := servingpb.NewPredictionServiceClient(conn).Predict(t.Context(), &servingpb.PredictRequest{ModelSpec: spec(""), Inputs: x(1)}, grpc.Peer(&of))
		if err != nil {
			return 0, err
		}
		return of.AuthInfo.(credentials.TLSInfo).State.PeerCertificates[0].SerialNumber.Int64(), nil
	}
	if serial, err := ask(pair); err != nil || serial != 10 {
		t.Errorf("a client with a certificate: %v, server %d", err, serial)
	}
	if _, err := ask(); status.Code(err) != codes.Unavailable {
		t.Errorf("a client without a certificate: %v, want UNAVAILABLE", err)
	}
	a.write(t, server, 11)
	if serial, err := ask(pair); err != nil || serial != 11 {
		t.Errorf("after a change: %v, server %d, want 11", err, serial)
	}
	if err := os.WriteFile(server.Cert, []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if serial, err := ask(pair); err != nil || serial != 11 {
		t.Errorf("with a broken file: %v, server %d, want 11", err, serial)
	}
	if len(told) != 1 || !strings.Contains(told[0], server.Cert) {
		t.Errorf("told %q, want one line with %s", told, server.Cert)
	}
}

// TestSecretsThatCannotBeRead verifies the exit codes of files that are missing or are something else.
func TestSecretsThatCannotBeRead(t *testing.T) {
	dir, a := t.TempDir(), newAuthority(t)
	good := Certificates{Cert: filepath.Join(dir, "s.pem"), Key: filepath.Join(dir, "s.key")}
	a.write(t, good, 10)
	empty, missing := filepath.Join(dir, "empty"), filepath.Join(dir, "missing")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		c    Certificates
		code int
	}{
		{Certificates{Cert: missing, Key: good.Key}, exitcode.NoInput},
		{Certificates{Cert: good.Cert}, exitcode.Usage},
		{Certificates{ClientCA: good.Cert}, exitcode.Usage},
		{Certificates{Cert: good.Cert, Key: empty}, exitcode.BadData},
		{Certificates{Cert: good.Cert, Key: good.Key, ClientCA: missing}, exitcode.NoInput},
		{Certificates{Cert: good.Cert, Key: good.Key, ClientCA: empty}, exitcode.BadData},
	} {
		if _, err := TLS(tt.c, nil); exitcode.Of(err) != tt.code {
			t.Errorf("TLS %+v: %v with code %d, want %d", tt.c, err, exitcode.Of(err), tt.code)
		}
	}
	for path, code := range map[string]int{missing: exitcode.NoInput, empty: exitcode.BadData} {
		if _, err := NewToken(path, nil); exitcode.Of(err) != code {
			t.Errorf("NewToken %s: %v with code %d, want %d", path, err, exitcode.Of(err), code)
		}
	}
}

// TestToken verifies for both protocols that requests need the token and probes of health do not, that
// a new token is taken without a restart, and that an empty file is told and leaves the old token.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	second := int64(1e9)
	write := func(text string) {
		second++
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(second, 0), time.Unix(second, 0)); err != nil {
			t.Fatal(err)
		}
	}
	write("first\n")
	told := 0
	token, err := NewToken(path, func(error) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	m, metrics := exampleModels(t)
	conn := dial(t, m, Options{MaxBody: 1 << 20, Timeout: time.Minute, Metrics: metrics, Token: token}, plain, insecure.NewCredentials())
	handler := token.HTTP(http.NotFoundHandler(), func(r *http.Request) bool { return r.URL.Path == "/healthz" },
		func(w http.ResponseWriter, err error) { http.Error(w, err.Error(), http.StatusUnauthorized) })
	ask := func(header string, want bool) {
		t.Helper()
		ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", header)
		_, err := servingpb.NewPredictionServiceClient(conn).Predict(ctx, &servingpb.PredictRequest{ModelSpec: spec(""), Inputs: x(1)})
		if got := status.Code(err) != codes.Unauthenticated; got != want {
			t.Errorf("gRPC with %q: %v, want admitted %t", header, err, want)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := w.Code != http.StatusUnauthorized; got != want {
			t.Errorf("HTTP with %q: %d, want admitted %t", header, w.Code, want)
		}
	}
	ask("Bearer first", true)
	ask("bearer first", true)
	ask("", false)
	ask("Bearer ", false)
	ask("Bearer second", false)
	ask("Basic first", false)
	write("second")
	ask("Bearer second", true)
	ask("Bearer first", false)
	write("")
	ask("Bearer second", true)
	ask("Bearer ", false)
	if told != 1 {
		t.Errorf("the empty file was told %d times, want once", told)
	}
	if _, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Errorf("a probe by gRPC: %v", err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	if w.Code == http.StatusUnauthorized {
		t.Error("a probe by HTTP needs the token")
	}
}
