package hosts

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring/exitcode"
)

// Host is a machine that ranks may run on.
type Host struct {
	Name  string // the argument of ssh: a name or an address, perhaps with USER@ before it
	Slots int    // number of ranks that may run there
	Local bool   // this machine, which needs no ssh
}

// String returns the host in the form that Parse reads.
func (h Host) String() string {
	user, addr, hasUser := strings.Cut(h.Name, "@")
	if !hasUser {
		user, addr = "", h.Name
	} else {
		user += "@"
	}
	if strings.Contains(addr, ":") {
		addr = "[" + addr + "]"
	}
	return fmt.Sprintf("%s%s:%d", user, addr, h.Slots)
}

// MaxSlots bounds the slots of a list of hosts. An allocation may have more slots than a
// job has ranks ([ring.MaxWorldSize]).
const MaxSlots = 1 << 16

// hostPattern matches the names of hosts. It excludes options of ssh and the special
// characters of a shell.
var hostPattern = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]{0,63}@)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$`)

// CheckName checks the name or address of a host.
func CheckName(name string) error {
	_, bare, hasUser := strings.Cut(name, "@")
	if !hasUser {
		bare = name
	}
	if ip, err := netip.ParseAddr(bare); err == nil && ip.Zone() == "" {
		if !hasUser || hostPattern.MatchString(strings.TrimSuffix(name, bare)+"x") {
			return nil
		}
	}
	if !hostPattern.MatchString(name) {
		return fmt.Errorf("host is %q, want a name or an address of letters, digits, dots, dashes and underscores, USER@ before it if need be", name)
	}
	return nil
}

// Parse reads a list as mpirun's -H takes it: "a:4,b:4,[fd00::7]:2". A host without a
// number has one slot. The slots of a host that comes again are added. A wrong list is
// exitcode.Usage.
func Parse(list string) ([]Host, error) {
	var (
		hosts []Host
		errs  []error
	)
	for word := range strings.SplitSeq(list, ",") {
		h, err := parseHost(strings.TrimSpace(word))
		hosts, errs = append(hosts, h), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return mergeLocal(hosts)
}

// parseHost reads NAME, NAME:SLOTS, an IPv6 address, or [ADDRESS]:SLOTS.
func parseHost(word string) (Host, error) {
	h := Host{Name: word, Slots: 1}
	name, slots, found := strings.Cut(word, ":")
	switch {
	case strings.Contains(word, "["):
		user, rest, _ := strings.Cut(word, "[")
		inside, after, closed := strings.Cut(rest, "]")
		_, err := netip.ParseAddr(inside)
		if err != nil || !closed || after != "" && after[0] != ':' || user != "" && !strings.HasSuffix(user, "@") {
			return h, fmt.Errorf("host is %q, want [ADDRESS] or [ADDRESS]:SLOTS, USER@ before it if need be; ranges of names are not read", word)
		}
		h.Name, slots, found = user+inside, strings.TrimPrefix(after, ":"), after != ""
	case found && !strings.Contains(slots, ":"):
		h.Name = name
	default: // no number, or an IPv6 address
		found = false
	}
	if err := CheckName(h.Name); err != nil {
		return h, err
	}
	if !found {
		return h, nil
	}
	var err error
	if h.Slots, err = parseSlots("slots", slots); err != nil {
		err = fmt.Errorf("host %s: %w", h.Name, err)
	}
	return h, err
}

// parseSlots parses a number of slots. what names the number in errors.
func parseSlots(what, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxSlots {
		return 0, fmt.Errorf("%s is %q, want a number from 1 to %d", what, text, MaxSlots)
	}
	return n, nil
}

// mergeLocal is mergeHosts on this machine.
func mergeLocal(list []Host) ([]Host, error) { return mergeHosts(list, thisMachine()) }

// mergeHosts merges hosts of one name and all names of the machine own. It bounds the sum
// of slots.
func mergeHosts(list []Host, own machineNames) ([]Host, error) {
	var (
		hosts []Host
		sum   int
	)
	for _, h := range list {
		h.Local = own.has(h.Name)
		same := func(o Host) bool { return o.Name == h.Name || o.Local && h.Local }
		if i := slices.IndexFunc(hosts, same); i >= 0 {
			hosts[i].Slots += h.Slots
		} else {
			hosts = append(hosts, h)
		}
		if sum += h.Slots; sum > MaxSlots {
			return nil, exitcode.With(exitcode.Usage, fmt.Errorf("more than %d slots", MaxSlots))
		}
	}
	return hosts, nil
}

// machineNames are the names and addresses of this machine. A name is not resolved: that
// could take long, and a resolver often returns the loopback for a host's own name.
type machineNames struct {
	host            string
	addrs           []net.Addr
	allocationNames []string // names of this machine in an allocation
}

// thisMachine returns the names and addresses that the system has for this machine.
func thisMachine() machineNames {
	host, _ := os.Hostname()         // "" where there is none
	addrs, _ := net.InterfaceAddrs() // nil: only the loopback counts
	return machineNames{host: host, addrs: addrs}
}

// has reports whether name is this machine. A name with USER@ is not: it means a login as
// another user.
func (n machineNames) has(name string) bool {
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().IsLoopback() || slices.ContainsFunc(n.addrs, func(a net.Addr) bool {
			own, ok := a.(*net.IPNet)
			return ok && own.IP.Equal(net.IP(ip.AsSlice()))
		})
	}
	short, _, _ := strings.Cut(n.host, ".")
	return name == "localhost" || n.host != "" && (name == n.host || name == short) || slices.Contains(n.allocationNames, name)
}

// TotalSlots returns the number of ranks that hosts take.
func TotalSlots(hosts []Host) int {
	sum := 0
	for _, h := range hosts {
		sum += h.Slots
	}
	return sum
}
