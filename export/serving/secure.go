package serving

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"ringtrain/ring/exitcode"
)

// Certificates are files in PEM: the certificate of a server with its chain, its key, and the
// authorities of clients. Without ClientCA clients need no certificate.
type Certificates struct{ Cert, Key, ClientCA string }

// TLS returns the configuration of a server, for the listeners of both protocols. The files are read
// again when they change; notice receives the error if they are not good, and the old ones stay.
func TLS(c Certificates, notice func(error)) (*tls.Config, error) {
	paths := slices.DeleteFunc([]string{c.Cert, c.Key, c.ClientCA}, func(p string) bool { return p == "" })
	current, err := newFresh(paths, c.read, notice)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: protocols(),
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return current.get(), nil },
	}, nil
}

// protocols returns those that both ports speak in TLS: gRPC is HTTP/2.
func protocols() []string { return []string{"h2", "http/1.1"} }

func (c Certificates) read() (*tls.Config, error) {
	if c.Cert == "" || c.Key == "" {
		return nil, exitcode.With(exitcode.Usage, errors.New("TLS needs a certificate and its key, --tls-cert and --tls-key"))
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, unreadable(fmt.Errorf("TLS: certificate %s with key %s: %w", c.Cert, c.Key, err))
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols(), Certificates: []tls.Certificate{pair}}
	if c.ClientCA == "" {
		return config, nil
	}
	text, err := os.ReadFile(c.ClientCA)
	if err != nil {
		return nil, unreadable(fmt.Errorf("TLS: authorities of clients: %w", err))
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, unreadable(fmt.Errorf("TLS: %s has no certificate, want those of the authorities of clients, in PEM", c.ClientCA))
	}
	return config, nil
}

// unreadable gives the error of a file its exit code.
func unreadable(err error) error {
	if _, missing := errors.AsType[*fs.PathError](err); missing {
		return exitcode.With(exitcode.NoInput, err)
	}
	return exitcode.With(exitcode.BadData, err)
}

// Token is the secret that requests must have, "Authorization: Bearer TOKEN". Probes of health need
// none, because those who probe have none. A nil Token admits all.
type Token struct {
	hash *fresh[[sha256.Size]byte]
}

// NewToken reads a token from a file, and again when the file changes. notice receives the error if
// the new one is not good, and the old token stays.
func NewToken(path string, notice func(error)) (*Token, error) {
	hash, err := newFresh([]string{path}, func() ([sha256.Size]byte, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return [sha256.Size]byte{}, unreadable(fmt.Errorf("token: %w", err))
		}
		token := bytes.TrimSpace(text)
		if len(token) == 0 {
			return [sha256.Size]byte{}, unreadable(fmt.Errorf("token: %s is empty", path))
		}
		return sha256.Sum256(token), nil
	}, notice)
	return &Token{hash: hash}, err
}

// admits reports whether a value of the header Authorization has the token.
func (t *Token) admits(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	hash, want := sha256.Sum256([]byte(token)), t.hash.get()
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(hash[:], want[:]) == 1
}

var errNoToken = status.Error(codes.Unauthenticated, "the request has no valid token, want the header Authorization: Bearer TOKEN")

// HTTP answers by next what has the token or needs none: open reports the latter. Others get refuse's answer.
func (t *Token) HTTP(next http.Handler, open func(*http.Request) bool, refuse func(http.ResponseWriter, error)) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if open(r) || t.admits(r.Header.Get("Authorization")) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, errNoToken)
	})
}

// check returns an error unless a call of gRPC has the token or needs none.
func (t *Token) check(method string, authorization []string) error {
	health := strings.HasPrefix(method, "/"+grpc_health_v1.Health_ServiceDesc.ServiceName+"/")
	if t == nil || health || slices.ContainsFunc(authorization, t.admits) {
		return nil
	}
	return errNoToken
}
