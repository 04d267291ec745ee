package model

import (
	"math"
	"testing"

	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

func matrix(rows [][]float32) tensor.Matrix {
	var m tensor.Matrix
	m.Resize(len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

// column returns a matrix of one column: a loss of one output treats each element as an
// example.
func column(rows [][]float32) tensor.Matrix {
	m := matrix(rows)
	return tensor.Matrix{Rows: len(m.Data), Cols: 1, Data: m.Data}
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)+1e-8) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func nearAll(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		near(t, what, float64(got[i]), float64(want[i]), 1e-6)
	}
}

// run returns scores, losses and the gradient of the mean loss.
func run(f lossFunc, z tensor.Matrix, y []float32) (scores, dz tensor.Matrix, losses []float64) {
	scores.Resize(z.Rows, z.Cols)
	dz.Resize(z.Rows, z.Cols)
	losses = make([]float64, z.Rows)
	weight := make([]float32, z.Rows)
	for i := range weight {
		weight[i] = 1 / float32(z.Rows)
	}
	e := kernel.New(kernel.Portable, 1)
	f.forward(e, scores, z, losses, y)
	f.backward(e, dz, scores, y, weight)
	return scores, dz, losses
}

func checkLosses(t *testing.T, losses []float64, want []float32, mean float64) {
	t.Helper()
	var sum float64
	for i, l := range losses {
		near(t, "loss", l, float64(want[i]), 1e-6)
		sum += l
	}
	near(t, "mean", sum/float64(len(losses)), mean, 1e-6)
}

// TestLossesAreTensorFlows verifies the losses against TensorFlow's numbers, also for
// logits of ±100, where naive formulas overflow.
func TestLossesAreTensorFlows(t *testing.T) {
	for _, name := range []string{"softmax_xent_sparse.json", "softmax_xent_sparse_large.json"} {
		t.Run("file="+name, func(t *testing.T) {
			var g struct {
				Logits, Probabilities [][]float32
				Labels, Loss          []float32
				Mean                  float64
				Grad                  [][]float32 `json:"grad_mean"`
			}
			golden(t, name, &g)
			scores, dz, losses := run(softmax{}, matrix(g.Logits), g.Labels)
			checkLosses(t, losses, g.Loss, g.Mean)
			nearAll(t, "probability", scores.Data, matrix(g.Probabilities).Data)
			nearAll(t, "gradient", dz.Data, matrix(g.Grad).Data)
		})
	}
	for _, name := range []string{"sigmoid_xent.json", "sigmoid_xent_large.json"} {
		t.Run("file="+name, func(t *testing.T) {
			var g struct {
				Logits, Targets, Probabilities, Loss [][]float32
				Mean                                 float64
				Grad                                 [][]float32 `json:"grad_mean"`
			}
			golden(t, name, &g)
			scores, dz, losses := run(sigmoid{}, column(g.Logits), column(g.Targets).Data)
			checkLosses(t, losses, column(g.Loss).Data, g.Mean)
			nearAll(t, "probability", scores.Data, column(g.Probabilities).Data)
			nearAll(t, "gradient", dz.Data, column(g.Grad).Data)
		})
	}
	t.Run("file=squared_error.json", func(t *testing.T) {
		var g struct {
			Prediction, Target, Loss [][]float32
			Mean                     float64
			Grad                     [][]float32 `json:"grad_mean"`
		}
		golden(t, "squared_error.json", &g)
		scores, dz, losses := run(squared{}, column(g.Prediction), column(g.Target).Data)
		checkLosses(t, losses, column(g.Loss).Data, g.Mean)
		nearAll(t, "score", scores.Data, column(g.Prediction).Data)
		nearAll(t, "gradient", dz.Data, column(g.Grad).Data)
	})
}

// TestExtremeOutputs verifies that losses do not overflow for large outputs, and do not
// hide NaN.
func TestExtremeOutputs(t *testing.T) {
	const big = 1e38
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		name string
		f    lossFunc
		z    []float32
		y    float32
		want float64
	}{
		{"loss=softmax/z=big/right", softmax{}, []float32{big, -big, 0}, 0, 0},
		{"loss=softmax/z=big/wrong", softmax{}, []float32{big, -big, 0}, 1, 2 * float64(float32(big))},
		{"loss=softmax/z=NaN", softmax{}, []float32{0, nan}, 0, math.NaN()},
		{"loss=softmax/z=Inf", softmax{}, []float32{inf, 0}, 1, math.NaN()},
		{"loss=sigmoid/z=big/right", sigmoid{}, []float32{big}, 1, 0},
		{"loss=sigmoid/z=big/wrong", sigmoid{}, []float32{big}, 0, float64(float32(big))},
		{"loss=sigmoid/z=-big/wrong", sigmoid{}, []float32{-big}, 1, float64(float32(big))},
		{"loss=sigmoid/z=NaN", sigmoid{}, []float32{nan}, 1, math.NaN()},
		{"loss=squared/z=big", squared{}, []float32{big}, -big, 4 * float64(float32(big)) * float64(float32(big))},
		{"loss=squared/z=NaN", squared{}, []float32{nan}, 0, math.NaN()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, losses := run(tt.f, matrix([][]float32{tt.z}), []float32{tt.y})
			if math.IsNaN(tt.want) != math.IsNaN(losses[0]) {
				t.Fatalf("loss is %g, want %g", losses[0], tt.want)
			}
			if !math.IsNaN(tt.want) {
				near(t, "loss", losses[0], tt.want, 1e-12)
			}
		})
	}
	t.Run("layer=relu/x=NaN", func(t *testing.T) {
		x := matrix([][]float32{{nan, -1}})
		y := matrix([][]float32{{0, 0}})
		newActivation(&graph.Node{Op: graph.OpReLU}).forward(&pass{engine: kernel.New(kernel.Portable, 1)}, []value{{Matrix: x}}, &y)
		if y.Data[0] == y.Data[0] || y.Data[1] != 0 {
			t.Errorf("relu(NaN, -1) is %v, want NaN and 0", y.Data)
		}
	})
}
