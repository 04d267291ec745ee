package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// padded returns s with bytes behind it that a careless reader would take for digits.
func padded(s string) []byte { return append([]byte(s), "\n99999999"...)[:len(s)+1+Pad] }

// TestUint verifies the value and the number of digits of texts of every length.
func TestUint(t *testing.T) {
	for n := 0; n <= 19; n++ {
		for _, end := range []string{"", ":1", " ", ".5", "/", ";", "\xff", "\xfa", "a"} {
			s := "9123456789012345678"[:n]
			want, _ := strconv.ParseUint("0"+s, 10, 64)
			if got, count := Uint(padded(s + end)); got != want || count != n {
				t.Errorf("%q: %d of %d digits, want %d of %d", s+end, got, count, want, n)
			}
		}
	}
}

// checkFloat32 verifies that Float32 agrees with strconv on s, or says that it cannot tell.
// It reports whether Float32 could.
func checkFloat32(t testing.TB, s string) bool {
	t.Helper()
	got, n := Float32(padded(s))
	if n == 0 {
		return false
	}
	word := s[:min(n, len(s))]
	wide, err := strconv.ParseFloat(word, 32)
	if n > len(s) || err != nil || math.Float32bits(float32(wide)) != math.Float32bits(got) {
		t.Errorf("%q: %v (%x) of %d bytes, want %v (%x), error %v", s, got, math.Float32bits(got), n, float32(wide), math.Float32bits(float32(wide)), err)
	}
	return true
}

// TestFloat32 verifies that Float32 reads numbers as tools write them with the bits of strconv,
// and that it leaves the others to strconv.
func TestFloat32(t *testing.T) {
	for _, s := range []string{"0", "1", "-1", "+1", "-0", "0.0", "-0.0", "0.5", ".5", "5.", "1e3", "1E-3", "1e+3", "16777216", "3.14159265358979", "0.1", "1.17549435e-37", "123456.789e-30", "1e38", "9999999999999999999e-10", "0.00000000000000001"} {
		if !checkFloat32(t, s) {
			t.Errorf("%q is left to strconv", s)
		}
	}
	for _, s := range []string{"", "x", "-", "+", ".", "-.", "e5", "1e", "1e+", "1e99999", "inf", "nan", "0.12345678901234567890", "12345678901234567890", "1e39", "1e-45", "16777217", "1e-60"} {
		if checkFloat32(t, s) {
			t.Errorf("%q is not left to strconv", s)
		}
	}
	for _, s := range []string{"1:2", "1 2", "1.5.2", "1e5x", "0x10", "1_000", "--1"} {
		checkFloat32(t, s)
	}
}

// TestFloat32WithoutEnd verifies that a number that goes on to the last byte, as behind a text that nothing ends, is
// left to strconv, wherever its sign, dot and exponent stand.
func TestFloat32WithoutEnd(t *testing.T) {
	for _, s := range []string{"1234567890123456789", "-123456789012", "12345.6789012345", ".1234567890123456", "1234567890.", "123456789e", "123456789e+", "123456789e+12"} {
		for from := range len(s) {
			word := []byte(s[from:])
			_, n := Float32(word)
			_, m := Float64(word)
			if n > len(word) || m > len(word) {
				t.Errorf("%q: %d and %d bytes, want at most %d", word, n, m, len(word))
			}
		}
	}
}

// TestFloat32Drawn verifies Float32 on drawn numbers in the forms of printf and strconv,
// and beside the middles of two float32. Nearly all must be read without strconv.
func TestFloat32Drawn(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	told, all := 0, 0
	check := func(s string) {
		all++
		if checkFloat32(t, s) {
			told++
		}
	}
	for range 20000 {
		x := math.Float32frombits(r.Uint32())
		if x != x || math.Abs(float64(x)) < 1e-37 || math.Abs(float64(x)) > 1e38 {
			continue
		}
		check(strconv.FormatFloat(float64(x), 'g', -1, 32))
		check(strconv.FormatFloat(float64(x), 'e', r.IntN(17), 64))
		check(strconv.FormatFloat(r.Float64(), 'g', -1, 64))
		check(strconv.FormatFloat(r.NormFloat64(), 'f', r.IntN(10), 64))
		check(fmt.Sprintf("%d.%0*d", r.IntN(1e6), 1+r.IntN(6), r.IntN(10)))
		middle := (float64(x) + float64(math.Nextafter32(x, math.MaxFloat32))) / 2
		for _, y := range []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, math.MaxFloat64)} {
			checkFloat32(t, strconv.FormatFloat(y, 'e', 18, 64))
			checkFloat32(t, strconv.FormatFloat(y, 'g', -1, 64))
		}
	}
	if told < all*99/100 {
		t.Errorf("seed %d: %d of %d numbers are read without strconv, want 99 of 100", seed, told, all)
	}
}

// FuzzFloat32 verifies that Float32 agrees with strconv bit for bit on any text.
func FuzzFloat32(f *testing.F) {
	for _, s := range []string{"1", "-0.5", "1e10", "16777217", "8388608.5", "0.30000001192092896", "1.5e-40", "3.4028236e38", strings.Repeat("1", 30)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !strings.Contains(s, "\n") {
			checkFloat32(t, s)
		}
	})
}

// BenchmarkFloat32 compares Float32 with strconv.
func BenchmarkFloat32(b *testing.B) {
	for _, s := range []string{"1", "0.25", "3.14159", "0.12345678901234567", "-1.5e-3"} {
		p := padded(s)
		b.Run("of=text/number="+s, func(b *testing.B) {
			for b.Loop() {
				Float32(p)
			}
		})
		b.Run("of=strconv/number="+s, func(b *testing.B) {
			for b.Loop() {
				strconv.ParseFloat(s, 32)
			}
		})
	}
}
