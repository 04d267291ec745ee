package maskedcrc

import "testing"

// TestOf verifies the masked form with the check value of CRC-32C, 0xe3069283 for the digits
// 1 to 9: it is 0x2507c60d rotated right by 15 bits, and 0xc78ab0e5 with the constant.
func TestOf(t *testing.T) {
	const crc, masked uint32 = 0xe3069283, 0xc78ab0e5
	data := []byte("123456789")
	if got := Of(data); got != masked {
		t.Errorf("Of(%s) is %#08x, want %#08x", data, got, masked)
	}
	if got := Unmask(masked); got != crc {
		t.Errorf("Unmask(%#08x) is %#08x, want %#08x", masked, got, crc)
	}
}

// TestUnmask verifies that Unmask is the inverse of Mask.
func TestUnmask(t *testing.T) {
	for bit := range 32 {
		for _, crc := range []uint32{1 << bit, ^(uint32(1) << bit)} {
			if got := Unmask(Mask(crc)); got != crc {
				t.Errorf("Unmask(Mask(%#08x)) is %#08x", crc, got)
			}
		}
	}
}
