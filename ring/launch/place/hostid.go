package place

import (
	"fmt"
	"strings"
	"unicode"

	"ringtrain/ring/launch/internal/environ"
)

// maxHostID bounds the name of a host, in bytes.
const maxHostID = 64

// findHostID reads the explicit name of this host, if there is one. Ranks with the same
// name must share memory; they fail to start where they cannot. Ranks with other names are
// on other hosts, also on one machine. Nothing else changes for them: they reach each other
// over the loopback if they listen there. The part before a slash names the machine, as the
// boot id does in a detected name.
func (p *explicitPlace) findHostID(e environ.Vars) error {
	name := "--host-id"
	if p.hostID == "" {
		name = "RINGTRAIN_HOST_ID"
		p.hostID = e.Get(name)
	}
	odd := strings.ContainsFunc(p.hostID, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar })
	if odd || len(p.hostID) > maxHostID {
		return fmt.Errorf("%s is %q, want at most %d bytes that can be printed, no space", name, p.hostID, maxHostID)
	}
	return nil
}
