package checkpoint

import (
	"strings"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/export/savedmodel/interop"
)

// slots lists for each optimizer TensorFlow 1's names of its slot variables and scalars.
var slots = []struct {
	optimizer string
	flags     []string
	slots     []string
	scalars   []string
}{
	{"sgd", nil, nil, nil},
	{"momentum", nil, []string{"Momentum"}, nil},
	{"adagrad", nil, []string{"Adagrad"}, nil},
	{"adadelta", nil, []string{"Adadelta", "Adadelta_1"}, nil},
	{"adam", nil, []string{"Adam", "Adam_1"}, []string{"beta1_power", "beta2_power"}},
	{"ftrl", nil, []string{"Ftrl", "Ftrl_1"}, nil},
	{"rmsprop", nil, []string{"RMSProp", "RMSProp_1"}, nil},
	{"rmsprop", []string{"--centered"}, []string{"RMSProp", "RMSProp_1", "RMSProp_2"}, nil},
}

// TestTensorFlow verifies that TensorFlow restores a checkpoint into a graph with each
// of its own optimizers, and continues the training.
func TestTensorFlow(t *testing.T) {
	tf := interop.Start(t)
	for _, tt := range slots {
		t.Run(strings.Join(append([]string{"optimizer=" + tt.optimizer}, tt.flags...), " "), func(t *testing.T) {
			s := State{Step: 1234, Run: state(1).Run}
			value := float32(1)
			add := func(name string, shape ...int) {
				n := 1
				for _, d := range shape {
					n *= d
				}
				values := make([]float32, n)
				for i := range values {
					value *= 63.0 / 64 // descending, because a mean of squares exceeds the square of the mean
					values[i] = value
				}
				s.Tensors = append(s.Tensors, bundle.Float32(name, shape, values))
			}
			for _, v := range []struct {
				name  string
				shape []int
			}{{"hidden_1/kernel", []int{3, 2}}, {"hidden_1/bias", []int{2}}, {"linear/weights", []int{5, 1}}} {
				add(v.name, v.shape...)
				for _, slot := range tt.slots {
					add(v.name+"/"+slot, v.shape...)
				}
			}
			for _, name := range tt.scalars {
				s.Tensors = append(s.Tensors, bundle.Float32(name, nil, []float32{0.5}))
			}
			dir := t.TempDir()
			save(t, dir, state(7), 2)
			save(t, dir, s, 2)
			t.Log(tf.Run(t, dir, "check_checkpoint.py", append([]string{dir, "--optimizer", tt.optimizer}, tt.flags...)...))
		})
	}
}
