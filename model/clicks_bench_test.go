package model

import (
	"math/rand/v2"
	"testing"

	"ringtrain/model/tensor"
)

// BenchmarkClicks measures Forward and Backward of models of ids on a rank's share of
// 2,000 examples with one id in each of 39 fields. The ids are from a million with
// falling frequencies.
func BenchmarkClicks(b *testing.B) {
	const n, fields, ids = 2000, 39, 1_000_000
	hidden := []int{128, 32, 8}
	for _, c := range []Config{
		{Kind: "sparse-linear"}, {Kind: "fm"}, {Kind: "wide-deep", Hidden: hidden}, {Kind: "deepfm", Hidden: hidden}, {Kind: "dcn", Hidden: hidden},
	} {
		b.Run("model="+string(c.Kind), func(b *testing.B) {
			m := build(b, ofIDs(c, LossConfig{}, ids, fields))
			place(m, 1)
			r := rand.New(rand.NewPCG(1, 2))
			x, y, weight := &tensor.Features{}, make([]float32, n), make([]float32, n)
			fill32(weight, 1)
			x.Bags.Reset(fields)
			for range n * fields {
				u := r.Float64()
				x.Bags.Add(uint32(u*u*u*u*u*u*ids), 1)
				x.Bags.End()
			}
			x.Bags.Index()
			for b.Loop() {
				m.Forward(x, y)
				m.Backward(weight, ignore)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
			b.ReportMetric(float64(len(x.Bags.IDs)), "ids")
		})
	}
}
