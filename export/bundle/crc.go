package bundle

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskDelta is LevelDB's constant.
const maskDelta = 0xa282ead8

// mask turns a CRC-32C into the form that is stored: a CRC of data that hold
// CRCs of their own would be weak. unmask is the inverse.
func mask(crc uint32) uint32 { return (crc>>15 | crc<<17) + maskDelta }

func unmask(stored uint32) uint32 {
	crc := stored - maskDelta
	return crc>>17 | crc<<15
}

// checksum returns the masked CRC-32C of the parts, one after another.
func checksum(parts ...[]byte) uint32 {
	crc := uint32(0)
	for _, p := range parts {
		crc = crc32.Update(crc, castagnoli, p)
	}
	return mask(crc)
}
