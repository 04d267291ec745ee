// Package netns makes hosts out of network namespaces, joined by a switch with shaped links. Tests
// and benchmarks that need several hosts and slow wires so run on one
// machine:
//
//	host 0          host 1          host 2         each a namespace with
//	10.231.0.1      10.231.0.2      10.231.0.3     one address on eth0
//	   │ tbf           │ tbf           │ tbf       rate, each way
//	┌──┴───────────────┴───────────────┴──┐
//	│               bridge                │        a namespace of its own
//	└─────────────────────────────────────┘
//
// With Config.Router the middle is a router in the place of the bridge, and [Net.Cut] drops what
// it would forward from one host to another.
//
// The namespaces have no names, and no part of them is in the machine's own network. The process
// that makes them holds them by open files. The kernel removes a namespace, with all its links
// and addresses, when the last process that is in it or holds it ends, in any way. So a panic
// or a kill leaves nothing behind, and any number of networks can exist at the same
// time.
//
// The package needs Linux, root, and the programs ip, tc and nsenter (Debian: iproute2,
// util-linux).
package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Config describes a network.
type Config struct {
	Hosts int    // 1 to 250
	Rate  string // of each link in each direction, in tc's notation: 1gbit, 100mbit; "": unshaped

	Router bool // the hosts reach each other by a router, not by a switch
}

// maxHosts is the number of hosts that fit the network's addresses.
const maxHosts = 250

func (c Config) check() error {
	if c.Hosts < 1 || c.Hosts > maxHosts {
		return fmt.Errorf("netns: hosts are %d, want 1 to %d", c.Hosts, maxHosts)
	}
	return nil
}

// Network is the network of all hosts' addresses.
const Network = "10.231.0.0/24"

// Net is a set of hosts joined by a switch.
type Net struct {
	hosts      []Host
	hub        Host       // the switch or router
	namespaces []*os.File // the namespaces
}

// Host is one namespace.
type Host struct {
	Addr string // its IPv4 address
	path string // of the namespace
}

// Hosts returns the hosts, in order of their addresses.
func (n *Net) Hosts() []Host { return n.hosts }

// Command returns the command line that runs argv on the host. A signal to it reaches the
// program.
func (h Host) Command(argv ...string) []string {
	return append([]string{"nsenter", "--net=" + h.path, "--"}, argv...)
}

// Available returns nil if networks can be made here, else what is missing.
func Available() error {
	if err := supported(); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("network namespaces need root")
	}
	for program, pkg := range map[string]string{"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("the program %s is missing, want the package %s", program, pkg)
		}
	}
	f, err := unshare() // root in a container may lack the capability
	if err != nil {
		return fmt.Errorf("network namespaces cannot be made: %w", err)
	}
	return f.Close()
}

// ErrUnavailable means that the kernel refused a part of a network, for lack of permission or of
// a module. Available does not detect this. A test skips.
var ErrUnavailable = errors.New("the kernel does not allow it or lacks a module")

// refusalTexts are the kernel's messages for ErrUnavailable, as ip, tc and nsenter print them.
var refusalTexts = []string{
	"Operation not permitted", "Permission denied", "Operation not supported", "Unknown device type", "qdisc kind is unknown", "qdisc not found",
}

// isRefusal reports whether the output of a failed program has one of the refusals.
func isRefusal(output string) bool {
	return slices.ContainsFunc(refusalTexts, func(words string) bool { return strings.Contains(output, words) })
}

// New makes a network. Close, or the end of this process, removes it. If the kernel refuses a
// part of it, the error is ErrUnavailable.
func New(ctx context.Context, c Config) (*Net, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := Available(); err != nil {
		return nil, fmt.Errorf("netns: %w", err)
	}
	n := new(Net)
	if err := n.build(ctx, c); err != nil {
		n.Close()
		return nil, fmt.Errorf("netns: %w", err)
	}
	return n, nil
}

// Close releases the namespaces. A namespace exists as long as a process is in it. Close may
// be called more than once.
func (n *Net) Close() error {
	var errs []error
	for _, f := range n.namespaces {
		errs = append(errs, f.Close())
	}
	n.namespaces, n.hosts = nil, nil
	return errors.Join(errs...)
}

func (n *Net) build(ctx context.Context, c Config) error {
	var err error
	if n.hub, err = n.add(""); err != nil {
		return err
	}
	kind := bridged
	if c.Router {
		kind = routed
	}
	if err := n.hub.run(ctx, kind.hub...); err != nil {
		return err
	}
	for i := range c.Hosts {
		host, err := n.add(fmt.Sprintf("10.231.0.%d", i+1))
		if err != nil {
			return err
		}
		if err := kind.connect(ctx, n.hub, host, fmt.Sprintf("port%d", i), c.Rate); err != nil {
			return fmt.Errorf("host %d: %w", i, err)
		}
		n.hosts = append(n.hosts, host)
	}
	return nil
}

// add makes an empty namespace, which this process holds.
func (n *Net) add(addr string) (Host, error) {
	f, err := unshare()
	if err != nil {
		return Host{}, fmt.Errorf("new namespace: %w", err)
	}
	n.namespaces = append(n.namespaces, f)
	return Host{Addr: addr, path: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd())}, nil
}

// A wiring has the command lines that make a network: of the hub, and of the two ends of a
// link. PORT, ADDR and NS stand for the hub's port, the host's address and its namespace.
type wiring struct{ hub, port, host []string }

var (
	bridged = wiring{
		hub:  []string{"ip link add br0 type bridge", "ip link set br0 up"},
		port: []string{"ip link add PORT type veth peer name eth0 netns NS", "ip link set PORT master br0 up"},
		host: []string{"ip addr add ADDR/24 dev eth0", "ip link set eth0 up", "ip link set lo up"},
	}
	routed = wiring{
		hub: []string{"ip link set lo up", "sysctl -qw net.ipv4.ip_forward=1"},
		port: []string{
			"ip link add PORT type veth peer name eth0 netns NS", "ip link set PORT up",
			"ip addr add 10.231.1.1/32 dev PORT", "ip route add ADDR/32 dev PORT",
		},
		host: []string{
			"ip addr add ADDR/32 dev eth0", "ip link set eth0 up", "ip link set lo up",
			"ip route add 10.231.1.1 dev eth0", "ip route add default via 10.231.1.1",
		},
	}
)

// connect connects the hub's port with the host's eth0.
func (w wiring) connect(ctx context.Context, hub, host Host, port, rate string) error {
	words := strings.NewReplacer("PORT", port, "ADDR", host.Addr, "NS", host.path)
	fill := func(lines []string) []string {
		list := slices.Clone(lines)
		for i := range list {
			list[i] = words.Replace(list[i])
		}
		return list
	}
	if err := hub.run(ctx, fill(w.port)...); err != nil {
		return err
	}
	if err := host.run(ctx, fill(w.host)...); err != nil || rate == "" {
		return err
	}
	if err := host.run(ctx, shape("eth0", rate)); err != nil {
		return err
	}
	return hub.run(ctx, shape(port, rate))
}

// Cut makes the router drop, without a word, what comes from one host for another. The way back
// stays as it is.
func (n *Net) Cut(ctx context.Context, from, to Host) error {
	return n.hub.run(ctx, "ip rule add from "+from.Addr+" to "+to.Addr+" blackhole")
}

// Mend ends a Cut.
func (n *Net) Mend(ctx context.Context, from, to Host) error {
	return n.hub.run(ctx, "ip rule del from "+from.Addr+" to "+to.Addr+" blackhole")
}

// shape returns the command that limits the rate of dev. The burst is two of the largest packets
// that the kernel passes at once; 50 ms of queue is usual for a switch.
func shape(dev, rate string) string {
	return "tc qdisc add dev " + dev + " root tbf rate " + rate + " burst 128kb latency 50ms"
}

// run runs lines on the host, up to the first that fails.
func (h Host) run(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		argv := h.Command(strings.Fields(line)...)
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
		if said := strings.TrimSpace(string(out)); err != nil && isRefusal(said) {
			return fmt.Errorf("%s: %w: %s", line, ErrUnavailable, said)
		} else if err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, said)
		}
	}
	return nil
}
