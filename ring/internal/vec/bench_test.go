package vec

import "testing"

// BenchmarkVec measures each kernel in bytes of float32 per second, on vectors that fit the
// second-level cache:
//
//	go test -run '^$' -bench Vec -count 10 ./ring/internal/vec | tee avx2.txt
//	go test -run '^$' -bench Vec -count 10 -tags noasm ./ring/internal/vec | tee portable.txt
//	benchstat portable.txt avx2.txt
func BenchmarkVec(b *testing.B) {
	const n = 1 << 15
	x, y, z := pattern(n, 1), pattern(n, 2), make([]float32, n)
	buf := make([]byte, 4*n)
	for _, k := range []struct {
		name string
		run  func()
	}{
		{"Add", func() { Add(x, y) }},
		{"Sum2", func() { Sum2(z, x, y) }},
		{"Subtract", func() { Subtract(x, y) }},
		{"AbsMax", func() { AbsMax(y) }},
		{"Finite", func() { Finite(y) }},
		{"PutF32", func() { PutF32(buf, y) }},
		{"AddF32", func() { AddF32(x, buf) }},
		{"PutBF16", func() { PutBF16(buf[:2*n], y) }},
		{"GetBF16", func() { GetBF16(x, buf[:2*n]) }},
		{"AddBF16", func() { AddBF16(x, buf[:2*n]) }},
		{"PutFP16", func() { PutFP16(buf[:2*n], y, 0x1p-15) }},
		{"GetFP16", func() { GetFP16(x, buf[:2*n], 1) }},
		{"AddFP16", func() { AddFP16(x, buf[:2*n], 1) }},
		{"PutInt8", func() { PutInt8(buf[:n], y, 0x1p-25) }},
		{"GetInt8", func() { GetInt8(x, buf[:n], 1) }},
		{"AddInt8", func() { AddInt8(x, buf[:n], 1) }},
	} {
		b.Run("kernel="+k.name, func(b *testing.B) {
			b.SetBytes(4 * n)
			for b.Loop() {
				k.run()
			}
		})
	}
}
