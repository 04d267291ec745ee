package place

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

var (
	errEndpoint = errors.New("HOST:PORT, port 1 to 65535")
	errListen   = errors.New("ADDR[:PORT[-PORT]], ports up to 65535, such as 10.0.0.7, :29400 or [::1]:7000-7100")
)

// checkEndpoint checks that s is an address to connect to. The error text says what is
// wanted.
func checkEndpoint(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || strings.ContainsAny(host, " \t\r\n,;=/\\") {
		return errEndpoint
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errEndpoint
	}
	return nil
}

// CheckRemoved returns an error for an address of a kind that only earlier versions took.
func CheckRemoved(at string) error {
	scheme, _, _ := strings.Cut(at, "://")
	if scheme != "etcd" && scheme != "etcds" {
		return nil
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s:// is gone: give --rendezvous HOST:PORT, a name that comes back (a Service, a host): "+
		"a rendezvous started again at the same address is brought up to date by its workers (docs/migrate.md#etcd)", scheme))
}

// listenAddr is a parsed --listen. Empty ports mean that none are named.
type listenAddr struct{ host, ports string }

// parseListen parses ADDR[:PORT[-PORT]].
func parseListen(s string) (listenAddr, error) {
	bare := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if _, err := netip.ParseAddr(bare); err == nil {
		return listenAddr{host: bare}, nil
	}
	if !strings.Contains(s, ":") {
		if _, err := strconv.Atoi(s); err == nil || strings.ContainsAny(s, " /,") {
			return listenAddr{}, errListen // a lone number is more likely a port than a host
		}
		return listenAddr{host: s}, nil
	}
	host, ports, err := net.SplitHostPort(s)
	if err != nil {
		return listenAddr{}, errListen
	}
	if _, _, err := portRange(ports); err != nil {
		return listenAddr{}, err
	}
	return listenAddr{host, ports}, nil
}

// checkListenFlag checks --listen. An empty flag is valid.
func checkListenFlag(s string) error {
	if s == "" {
		return nil
	}
	if _, err := parseListen(s); err != nil {
		return fmt.Errorf("--listen is %q, want %w", s, err)
	}
	return nil
}

// isOneHost reports whether l names one host that others may reach.
func (l listenAddr) isOneHost() bool {
	ip, err := netip.ParseAddr(l.host)
	return l.host != "" && (err != nil || !ip.IsUnspecified()) && !isLoopback(net.JoinHostPort(l.host, "1"))
}

// portRange parses "port" or "first-last".
func portRange(ports string) (lo, hi int, err error) {
	first, last, isRange := strings.Cut(ports, "-")
	if !isRange {
		last = first
	}
	a, err1 := strconv.ParseUint(first, 10, 16)
	b, err2 := strconv.ParseUint(last, 10, 16)
	if err1 != nil || err2 != nil || a > b || isRange && a == 0 {
		return 0, 0, errListen
	}
	return int(a), int(b), nil
}

// listenAt returns the listen address of a worker that others know as addr. An IP address
// and the loopback are used as they are. A name is not: a host often resolves its own name
// to 127.0.1.1 only, and the name of a pod may be that of a service in front of it. Such a
// worker listens on all interfaces.
func listenAt(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if _, err := netip.ParseAddr(host); err == nil || isLoopback(addr) {
		return addr
	}
	return ":" + port
}

// isLoopback reports whether the host of addr is this host and nothing else. A name counts
// only if it says so itself: nothing is resolved.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// TokenFor returns the token of a process that listens at an address, or asks the process
// there: secret, if it is set. On the loopback it is else this user's local token, unless
// insecure is set. The zero Token means that there is none.
func TokenFor(address string, secret token.Token, insecure bool) (token.Token, error) {
	if secret.Set() || insecure || !isLoopback(address) {
		return secret, nil
	}
	return token.Local()
}

// MeetsOnLoopback reports whether all workers are on this host, because the rendezvous is on
// its loopback.
func (p Place) MeetsOnLoopback() bool { return isLoopback(p.Rendezvous) }

// CheckListen checks that it is safe to listen on an address of Place.Listen. Without a
// token only the loopback is safe. Any other address is exitcode.Auth, unless insecure is
// set: then the caller must print the notice. World size 1 listens nowhere, and "" is
// always safe.
func CheckListen(listen string, secret token.Token, insecure bool) (notice string, err error) {
	if listen == "" || secret.Set() || isLoopback(listen) {
		return "", nil
	}
	if insecure {
		return fmt.Sprintf("--insecure: listening on %s without a token: any process that reaches it can join this job", listen), nil
	}
	return "", exitcode.With(exitcode.Auth, fmt.Errorf(
		"listening on %s needs a token: run `ringtrain token` once and copy its file to every host, or set RINGTRAIN_TOKEN on all ranks, or add --insecure", listen))
}

// DefaultPort is the port of a rendezvous without a worker.
const DefaultPort = "29400"

// RendezvousAddress returns the listen address of a rendezvous without a worker. flag is
// its --listen, which may be empty. The default is DefaultPort on all interfaces with a
// token, and on the loopback without one.
func RendezvousAddress(flag string, token bool) (string, error) {
	if flag == "" {
		if token {
			return ":" + DefaultPort, nil
		}
		return net.JoinHostPort("127.0.0.1", DefaultPort), nil
	}
	l, err := parseListen(flag)
	if err != nil {
		return "", exitcode.With(exitcode.Usage, fmt.Errorf("--listen is %q, want %w", flag, err))
	}
	if l.ports == "" {
		l.ports = DefaultPort
	}
	return net.JoinHostPort(l.host, l.ports), nil
}
