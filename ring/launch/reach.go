package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"ringtrain/ring/exitcode"
)

// reachTimeout bounds an attempt to reach the launcher from another host.
const reachTimeout = 2 * time.Second

// Interfaces returns the addresses by which other hosts may reach this one: those of all
// interfaces that are up, without loopback and link-local addresses. With only, the name of
// an interface or a network such as 10.0.0.0/8, it returns the addresses of that alone;
// none is exitcode.Usage.
func Interfaces(only string) ([]string, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("interfaces: %w", err)
	}
	within, err := parseInterface(only)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, i := range list {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && within(i.Name, n.IP) {
				found = append(found, n.IP.String())
			}
		}
	}
	if len(found) == 0 && only != "" {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--interface is %q, want the name of an interface that is up, or a network that one is in", only))
	}
	if len(found) == 0 {
		return nil, exitcode.With(exitcode.Retry, errors.New("no interface is up: other hosts cannot reach this one"))
	}
	return found, nil
}

// parseInterface returns a predicate for the addresses that only names.
func parseInterface(only string) (func(name string, ip net.IP) bool, error) {
	if only == "" {
		return func(string, net.IP) bool { return true }, nil
	}
	if !strings.Contains(only, "/") {
		return func(name string, _ net.IP) bool { return name == only }, nil
	}
	_, network, err := net.ParseCIDR(only)
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--interface is %q, want a name or a network such as 10.0.0.0/8", only))
	}
	return func(_ string, ip net.IP) bool { return network.Contains(ip) }, nil
}

// Reach returns the addresses of Interfaces with the port of addr.
func Reach(addr, only string) ([]string, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	hosts, err := Interfaces(only)
	var list []string
	for _, h := range hosts {
		list = append(list, net.JoinHostPort(h, port))
	}
	return list, err
}

// candidates returns list in the order in which an agent tries it. login is the source of
// its login, in the form of SSH_CONNECTION. If its address is in the list, it comes first.
// Otherwise it comes last with behind, for a launcher behind a router, and is left out
// without.
func candidates(list []string, login string, behind bool) []string {
	from, _, _ := strings.Cut(login, " ")
	ip, err := netip.ParseAddr(from)
	if err != nil || ip.IsLoopback() || len(list) == 0 {
		return list
	}
	_, port, err := net.SplitHostPort(list[0])
	if err != nil {
		return list
	}
	there := net.JoinHostPort(ip.Unmap().String(), port)
	ordered, known := []string{}, false
	for _, addr := range list {
		if addr == there {
			known = true
			continue
		}
		ordered = append(ordered, addr)
	}
	switch {
	case known:
		return append([]string{there}, ordered...)
	case behind:
		return append(ordered, there)
	}
	return ordered
}

// dialFunc opens a connection and closes it again.
type dialFunc func(ctx context.Context, addr string) error

func dialOnce(ctx context.Context, addr string) error {
	d := net.Dialer{Timeout: reachTimeout}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// firstReachable dials all addresses of list at the same time. It returns the first one in
// the order of the list that answers.
func firstReachable(ctx context.Context, list []string, dial dialFunc) (string, error) {
	results := make([]chan error, len(list))
	for i, addr := range list {
		results[i] = make(chan error, 1)
		go func() { results[i] <- dial(ctx, addr) }()
	}
	var errs []string
	for i, addr := range list {
		err := <-results[i]
		if err == nil {
			return addr, nil
		}
		errs = append(errs, err.Error())
	}
	return "", exitcode.With(exitcode.Retry, fmt.Errorf("cannot reach the launcher: %s", strings.Join(errs, "; ")))
}
