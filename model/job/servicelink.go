package job

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// serviceLinkName is the name of a variable that Kubernetes gives each pod for a Service whose name begins
// with ringtrain, and its kind.
var serviceLinkName = regexp.MustCompile(`^RINGTRAIN(?:_[A-Z0-9_]+?)??_(SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_PROTO|_PORT|_ADDR)?)$`)

// isServiceLink reports whether a variable is a service link, as Kubernetes makes them unless enableServiceLinks is
// false. It is no key, and whoever named the Service has not misspelt one. Its value must be what a link has.
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
