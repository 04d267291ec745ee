package place

import (
	"fmt"
	"strings"
	"unicode"

	"ringtrain/ring/launch/internal/environ"
)

// maxHostID bounds the name of a host, in bytes.
const maxHostID = 64

// findHostID reads which host this is to be, if that is given. Ranks with the same
// name have to share memory, and fail to start where they cannot. Those with other
// names are on other hosts, also on one machine: nothing else changes for them, so
// they reach each other over the loopback if they listen there. What is before a
// slash names the machine, as the boot id does in a name that is found out.
func (g *explicitPlace) findHostID(e environ.Vars) error {
	name := "--host-id"
	if g.hostID == "" {
		name = "RINGTRAIN_HOST_ID"
		g.hostID = e.Get(name)
	}
	odd := strings.ContainsFunc(g.hostID, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar })
	if odd || len(g.hostID) > maxHostID {
		return fmt.Errorf("%s is %q, want at most %d bytes that can be printed, no space", name, g.hostID, maxHostID)
	}
	return nil
}
