package build

import (
	"strings"
	"testing"
)

// TestSame verifies the rule: one program on one platform, one unmodified commit between platforms.
func TestSame(t *testing.T) {
	const mine = "0.1.0 linux/amd64 aaaa 1234"
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{mine, mine, true},
		{mine, "0.1.0 linux/amd64 bbbb 1234", false},
		{mine, "0.2.0 linux/amd64 aaaa 1234", false},
		{mine, "0.1.0 linux/arm64 cccc 1234", true},
		{mine, "0.1.0 linux/arm64 cccc 5678", false},
		{"0.1.0 linux/amd64 aaaa -", "0.1.0 linux/arm64 cccc -", false},
		{"0.1.0 linux/amd64 - 1234", "0.1.0 linux/amd64 - 1234", true}, // no difference is known
		{"9.9.9", "9.9.9", true},
		{"9.9.9", mine, false},
		{"", mine, false},
	} {
		if Same(tt.a, tt.b) != tt.want || Same(tt.b, tt.a) != tt.want {
			t.Errorf("%q and %q: same is %t, want %t", tt.a, tt.b, Same(tt.a, tt.b), tt.want)
		}
	}
}

// TestCurrent verifies the build of this program, and that it is the same as itself.
func TestCurrent(t *testing.T) {
	own := Current("1.0 beta")
	fields := strings.Fields(own)
	if len(fields) != 4 || fields[0] != "1.0_beta" || len(fields[2]) != 16 || own != Current("1.0 beta") || !Same(own, own) {
		t.Errorf("build is %q, want version, platform, 16 digits and commit", own)
	}
}
