package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"ringtrain/ring/exitcode"
)

// Address names a cluster and a place in it.
type Address struct {
	Endpoints []string // host:port, at least one
	TLS       bool     // with the system's root certificates
	Prefix    string   // of all keys, without slashes at its ends
}

const addressForm = "etcd://HOST:PORT[,HOST:PORT…]/PREFIX, or etcds:// for TLS"

var errUser = errors.New("has a user or password, which every user of the host could read: set RINGTRAIN_ETCD_USER and RINGTRAIN_ETCD_PASSWORD instead")

// ParseAddress parses etcd://HOST:PORT[,HOST:PORT…]/PREFIX, or etcds:// for TLS. Its error has
// exitcode.Usage and never shows a password.
func ParseAddress(text string) (Address, error) {
	a, err := parseAddress(text)
	if errors.Is(err, errUser) {
		return Address{}, exitcode.With(exitcode.Usage, fmt.Errorf("the address of etcd %w", err))
	}
	if err != nil {
		return Address{}, exitcode.With(exitcode.Usage, fmt.Errorf("the address of etcd is %q: %w; want %s", text, err, addressForm))
	}
	return a, nil
}

func parseAddress(text string) (Address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "etcd" && scheme != "etcds" {
		return Address{}, errors.New("not an address of etcd")
	}
	if strings.Contains(rest, "@") {
		return Address{}, errUser
	}
	hosts, prefix, _ := strings.Cut(rest, "/")
	a := Address{Endpoints: strings.Split(hosts, ","), TLS: scheme == "etcds", Prefix: strings.Trim(prefix, "/")}
	for i, e := range a.Endpoints {
		if err := checkEndpoint(e); err != nil {
			return Address{}, err
		}
		for _, other := range a.Endpoints[:i] {
			if e == other {
				return Address{}, fmt.Errorf("%s is there twice", e)
			}
		}
	}
	switch {
	case a.Prefix == "":
		return Address{}, errors.New("the prefix is missing")
	case strings.ContainsAny(a.Prefix, " \t\r\n?#%\x00"):
		return Address{}, fmt.Errorf("prefix %q", a.Prefix)
	}
	return a, nil
}

func checkEndpoint(e string) error {
	host, port, err := net.SplitHostPort(e)
	if err != nil || host == "" || strings.ContainsAny(host, " ;=?#%\\") || strings.ContainsFunc(host, unicode.IsControl) {
		return fmt.Errorf("endpoint %q", e)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("endpoint %q has no port from 1 to 65535", e)
	}
	return nil
}

// String returns the form that ParseAddress parses.
func (a Address) String() string {
	scheme := "etcd"
	if a.TLS {
		scheme = "etcds"
	}
	return scheme + "://" + strings.Join(a.Endpoints, ",") + "/" + a.Prefix
}

// urls returns the endpoints in the form of etcd's client.
func (a Address) urls() []string {
	scheme := "http://"
	if a.TLS {
		scheme = "https://"
	}
	list := make([]string, len(a.Endpoints))
	for i, e := range a.Endpoints {
		list[i] = scheme + e
	}
	return list
}

// keys holds the key of the coordinator and the prefix of the journal of a job.
type keys struct{ coordinator, journal string }

func (a Address) keys(jobID string) keys {
	base := a.Prefix + "/" + url.PathEscape(jobID) + "/"
	return keys{coordinator: base + "coordinator", journal: base + "journal/"}
}

// entry returns the key of entry n of the journal, from 1.
func (k keys) entry(n int) string { return fmt.Sprintf("%s%08d", k.journal, n) }
