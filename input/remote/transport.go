package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

// newTransport returns how requests travel. bundle is a file of certificates to trust beside the system's; "": none.
func newTransport(bundle string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = stallTimeout
	t.DisableCompression = true // the bytes are those of the object
	t.MaxIdleConnsPerHost = atOnce
	t.ForceAttemptHTTP2 = false // a connection for each request is faster
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	if bundle == "" {
		return t, nil
	}
	text, err := os.ReadFile(bundle)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("AWS_CA_BUNDLE: %w", err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("AWS_CA_BUNDLE: %s has no certificate", bundle))
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool}
	return t, nil
}

// plain returns an error of a request without its URL, which may have a signature. A certificate that is not trusted, a host
// that does not exist, and a port that nobody listens at, are no better at the next try.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return exitcode.With(exitcode.Auth, e)
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound || errors.Is(err, syscall.ECONNREFUSED) {
		return exitcode.With(exitcode.IO, err)
	}
	return err
}

// isRange reports whether a Content-Range is of the bytes [from, to) of size; a size of -1 is any.
func isRange(text string, from, to, size int64) bool {
	var first, last, total int64
	n, err := fmt.Sscanf(strings.TrimSpace(text), "bytes %d-%d/%d", &first, &last, &total)
	return err == nil && n == 3 && first == from && last == to-1 && (size < 0 || total == size)
}
