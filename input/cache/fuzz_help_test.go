package cache

import (
	"encoding/binary"
	"hash/crc32"
)

// fix gives a block the right checksum.
func fix(data []byte) {
	le := binary.LittleEndian
	le.PutUint32(data[headBytes-4:], 0)
	le.PutUint32(data[headBytes-4:], crc32.Checksum(data, castagnoli))
}
