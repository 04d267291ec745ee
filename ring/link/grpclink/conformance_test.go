package grpclink

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// TestConformance fails if links over loopback are not what package ring takes
// a link for.
func TestConformance(t *testing.T) {
	for _, crc := range []bool{false, true} {
		t.Run(fmt.Sprintf("crc=%v", crc), func(t *testing.T) {
			linktest.Run(t, func(t *testing.T, p int) []ring.Link { return openAll(t, p, Config{PayloadCRC: crc}) })
		})
	}
}
