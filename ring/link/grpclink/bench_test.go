package grpclink

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// BenchmarkLink measures links between two ranks of this process over loopback.
//
//	go test -run '^$' -bench Link -count 10 ./ring/link/grpclink | tee new.txt
//	benchstat -col /crc new.txt
func BenchmarkLink(b *testing.B) {
	for _, crc := range []bool{false, true} {
		b.Run(fmt.Sprintf("crc=%v", crc), func(b *testing.B) {
			linktest.Bench(b, func(b *testing.B) []ring.Link {
				return linktest.OpenRing(b, &network{config: Config{PayloadCRC: crc}}, 2)
			})
		})
	}
}
