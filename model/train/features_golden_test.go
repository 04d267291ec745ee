package train

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
	"ringtrain/model/train/traintest"
)

// featuresGolden holds the results of TensorFlow and Keras from testdata/features/make_features.py.
type featuresGolden struct {
	Average struct {
		Decay            float64
		First            []float32
		Values, Averages [][]float32
	}
	Clip struct {
		Gradients, Clipped, Below [][]float32
		Value, Norm               float64
		GlobalNorm                float64 `json:"global_norm"`
	}
	Networks []networkGolden
}

// A networkGolden is a step of Keras's fit: softmax regression of 6 examples, 4 features
// and 3 classes, with sgd.
type networkGolden struct {
	X, Y, Kernel, Bias []float32
	Rate               float32
	Smoothing          float32
	ClassWeights       []float64 `json:"class_weights"`
	Loss, Evaluated    float64
	KernelAfter        []float32 `json:"kernel_after"`
	BiasAfter          []float32 `json:"bias_after"`
}

func readFeatures(t *testing.T) featuresGolden {
	t.Helper()
	text, err := os.ReadFile("testdata/features/features.json")
	if err != nil {
		t.Fatal(err)
	}
	var g featuresGolden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAverageIsTensorFlows verifies that the average has the bits of TensorFlow's
// ExponentialMovingAverage, in every kernel set.
func TestAverageIsTensorFlows(t *testing.T) {
	g := readFeatures(t).Average
	for _, set := range kernel.Sets() {
		e := kernel.New(set, 1)
		v := &model.Variable{Name: "v", Shape: []int{len(g.First)}, Value: slices.Clone(g.First)}
		a := newAverages(job.Average{Decay: g.Decay}, []*model.Variable{v}, func() *kernel.Engine { return e })
		a.reset()
		for step, values := range g.Values {
			copy(v.Value, values)
			a.update(nil)
			if !slices.Equal(a.values[0], g.Averages[step]) {
				t.Errorf("%v: after step %d the average is %v, want %v", set, step+1, a.values[0], g.Averages[step])
			}
		}
		e.Close()
	}
	if len(g.Values) < 5 {
		t.Errorf("%d steps, want 5 or more", len(g.Values))
	}
}

// TestClipIsTensorFlows verifies clip against TensorFlow's clip_by_value and
// clip_by_global_norm, above the bound and below it.
func TestClipIsTensorFlows(t *testing.T) {
	g := readFeatures(t).Clip
	e := kernel.New(kernel.Portable, 1)
	defer e.Close()
	for _, tt := range []struct {
		clip clip
		want [][]float32
	}{{clip{g.Norm, g.Value}, g.Clipped}, {clip{100, g.Value}, g.Below}} {
		var vars []*model.Variable
		for _, grad := range g.Gradients {
			vars = append(vars, &model.Variable{Shape: []int{len(grad)}, Grad: slices.Clone(grad)})
		}
		tt.clip.apply(e, vars, nil)
		for i, v := range vars {
			for j, x := range v.Grad {
				if traintest.Far(float64(x), float64(tt.want[i][j]), 3e-7) {
					t.Errorf("%+v: gradient %d of variable %d is %v, want %v", tt.clip, j, i, x, tt.want[i][j])
				}
			}
		}
	}
}

// TestWeightsAreKeras verifies the printed loss, the loss of evaluations, and one update, with
// class weights and smoothed labels, against Keras's fit and evaluate.
func TestWeightsAreKeras(t *testing.T) {
	for _, g := range readFeatures(t).Networks {
		t.Run(fmt.Sprintf("weights=%v/smoothing=%v", g.ClassWeights, g.Smoothing), func(t *testing.T) {
			made, err := model.Config{Kind: "softmax", Classes: model.Count(3)}.GraphOf(model.Inputs{Dense: graph.Shape{4}}, model.LossConfig{})
			if err != nil {
				t.Fatal(err)
			}
			m := model.New(made)
			defer m.Close()
			m.Smooth(g.Smoothing)
			for i, values := range [][]float32{g.Kernel, g.Bias} {
				m.Variables()[i].Value, m.Variables()[i].Grad = slices.Clone(values), make([]float32, len(values))
			}
			b := input.Batch{Y: g.Y, X: tensor.Features{Dense: tensor.Matrix{Rows: 6, Cols: 4, Data: g.X}}}
			for range g.Y {
				b.Weight = append(b.Weight, float32(1)/6)
			}
			if got := m.Evaluate(&b.X, b.Y) / 6; traintest.Far(got, g.Evaluated, 1e-6) {
				t.Errorf("the loss of the evaluation is %v, want %v", got, g.Evaluated)
			}
			weights := newClassWeights(g.ClassWeights)
			if got := weights.loss(m.Forward(&b.X, b.Y), m, b.Y) / 6; traintest.Far(got, g.Loss, 1e-6) {
				t.Errorf("the loss is %v, want %v", got, g.Loss)
			}
			m.Backward(weights.batch(&b), func(int) {})
			for i, want := range [][]float32{g.KernelAfter, g.BiasAfter} {
				v := m.Variables()[i]
				for j := range want {
					if got := v.Value[j] - g.Rate*v.Grad[j]; traintest.Far(float64(got), float64(want[j]), 2e-6) {
						t.Errorf("%s[%d] is %v after the update, want %v", v.Name, j, got, want[j])
					}
				}
			}
		})
	}
}
