package bundle

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskDelta is the constant of LevelDB's CRC masking.
const maskDelta = 0xa282ead8

// mask returns the stored form of a CRC-32C. LevelDB masks checksums because the CRC of
// data that contain CRCs is weak.
func mask(crc uint32) uint32 { return (crc>>15 | crc<<17) + maskDelta }

// unmask is the inverse of mask.
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
