package job

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// serviceLinkName matches the variables that Kubernetes sets in each pod for a Service whose name begins
// with ringtrain. Its group is the kind of the variable.
var serviceLinkName = regexp.MustCompile(`^RINGTRAIN(?:_[A-Z0-9_]+?)??_(SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_PROTO|_PORT|_ADDR)?)$`)

// isServiceLink reports whether a variable is a service link, which Kubernetes sets unless
// enableServiceLinks is false. A service link is no key and no misspelt key. Its value must have the
// form of a link.
func isServiceLink(name, value string) bool {
	m := serviceLinkName.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	switch kind := m[1]; {
	case kind == "SERVICE_HOST", strings.HasSuffix(kind, "_ADDR"):
		_, err := netip.ParseAddr(value)
		return err == nil
	case strings.HasSuffix(kind, "_PROTO"):
		return value == "tcp" || value == "udp" || value == "sctp"
	case strings.HasPrefix(kind, "SERVICE_PORT"), strings.HasSuffix(kind, "_PORT"):
		_, err := strconv.ParseUint(value, 10, 16)
		return err == nil
	default:
		scheme, _, ok := strings.Cut(value, "://")
		return ok && (scheme == "tcp" || scheme == "udp" || scheme == "sctp")
	}
}
