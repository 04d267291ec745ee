// Package maskedcrc computes the checksum of TFRecord files and TensorFlow bundles: a CRC-32C
// in LevelDB's masked form. The CRC of data that contain their own CRC is weak, so both
// formats store a CRC rotated right by 15 bits plus a constant.
package maskedcrc

import "hash/crc32"

// delta is the constant of LevelDB's CRC masking.
const delta = 0xa282ead8

// Of returns the masked CRC-32C of data.
func Of(data []byte) uint32 { return Mask(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))) }

// Mask returns the stored form of a CRC-32C.
func Mask(crc uint32) uint32 { return (crc>>15 | crc<<17) + delta }

// Unmask returns the CRC-32C of its stored form.
func Unmask(masked uint32) uint32 {
	crc := masked - delta
	return crc>>17 | crc<<15
}
