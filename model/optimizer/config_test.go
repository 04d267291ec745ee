package optimizer

import (
	"math"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestConfigCheck verifies that Check returns all errors at once: settings out of range,
// and settings that the optimizer does not have.
func TestConfigCheck(t *testing.T) {
	tests := []struct {
		name string
		c    Config
		want string
	}{
		{"no name", Config{}, `optimizer.name is "", want one of ` + Name("").Takes()},
		{"no rate", Config{Name: "sgd"}, "optimizer.learning_rate is missing, want one above 0: sgd has no default"},
		{"default rate", Config{Name: "adam"}, ""},
		{"rate by name", Config{Name: "sgd", LearningRates: map[string]float64{"sgd": 1, "adam": 2}}, ""},
		{"rate of another", Config{Name: "sgd", LearningRates: map[string]float64{"adam": 2}}, "optimizer.learning_rate is missing, want one above 0: sgd has no default"},
		{"rate 0", Config{Name: "adam", LearningRate: new(0.0)}, "optimizer.learning_rate is 0, want above 0"},
		{"rate NaN", Config{Name: "adam", LearningRate: new(math.NaN())}, "optimizer.learning_rate is NaN, want above 0"},
		{"rate beyond float32", Config{Name: "adam", LearningRate: new(1e39)}, "optimizer.learning_rate is 1e+39, want above 0, within the range of float32"},
		{"rate below float32", Config{Name: "adam", LearningRate: new(1e-50)}, "optimizer.learning_rate is 1e-50, want above 0"},
		{"rates", Config{Name: "adam", LearningRates: map[string]float64{"sdg": 1, "ftrl": -1}},
			"optimizer.learning_rates.ftrl is -1, want above 0\n" +
				`optimizer.learning_rates has "sdg", want one of ` + Name("").Takes()},
		{"rates 0", Config{Name: "adam", LearningRates: map[string]float64{"adam": 0}}, "optimizer.learning_rates.adam is 0, want above 0"},
		{"momentum 1", Config{Name: "momentum", LearningRate: new(1.0), Momentum: new(1.0)}, "optimizer.momentum is 1, want 0 or more and below 1"},
		{"betas", Config{Name: "adam", Beta1: new(-0.1), Beta2: new(0.999999999999), Epsilon: new(0.0)},
			"optimizer.epsilon is 0, want above 0\noptimizer.beta1 is -0.1, want 0 or more and below 1\n" +
				"optimizer.beta2 is 0.999999999999, want 0 or more and below 1"},
		{"weight decay", Config{Name: "adamw", WeightDecay: new(-1.0)}, "optimizer.weight_decay is -1, want 0 or more"},
		{"weight decay of adam", Config{Name: "adam", WeightDecay: new(0.1)}, "optimizer.weight_decay is 0.1, want none with optimizer.name adam"},
		{"rho", Config{Name: "adadelta", Rho: new(1.5)}, "optimizer.rho is 1.5, want 0 or more and below 1"},
		{"adagrad from 0", Config{Name: "adagrad", LearningRate: new(1.0), InitialAccumulator: new(0.0)},
			"optimizer.initial_accumulator is 0, want above 0 with optimizer.name adagrad"},
		{"ftrl from 0", Config{Name: "ftrl", LearningRate: new(1.0), InitialAccumulator: new(0.0)}, ""},
		{"ftrl", Config{Name: "ftrl", LearningRate: new(1.0), InitialAccumulator: new(-1.0), L1: -1, L2: math.Inf(1), L2Shrinkage: -2, Power: new(0.5)},
			"optimizer.initial_accumulator is -1, want 0 or more\noptimizer.l1 is -1, want 0 or more\noptimizer.l2 is +Inf, want 0 or more, within the range of float32\n" +
				"optimizer.l2_shrinkage is -2, want 0 or more\noptimizer.power is 0.5, want 0 or less"},
		{"misfits", Config{Name: "sgd", LearningRate: new(1.0), Momentum: new(0.9), L1: 0.1, Nesterov: true, Centered: true},
			"optimizer.momentum is 0.9, want none with optimizer.name sgd\noptimizer.nesterov is true, want none with optimizer.name sgd\n" +
				"optimizer.centered is true, want none with optimizer.name sgd\noptimizer.l1 is 0.1, want none with optimizer.name sgd"},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) { wantUsage(t, tt.c.Check(), tt.want) })
	}
	_, err := New(Config{Name: "sgd"}, nil, nil)
	wantUsage(t, err, "optimizer.learning_rate is missing, want one above 0: sgd has no default")
}

func wantUsage(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
		if code := exitcode.Of(err); code != exitcode.Usage {
			t.Errorf("exit code %d, want %d", code, exitcode.Usage)
		}
	}
	if got != want {
		t.Errorf("error:\n%s\nwant:\n%s", got, want)
	}
}

// TestRate verifies that learning_rate takes precedence over learning_rates, and these
// over defaults.
func TestRate(t *testing.T) {
	byName := map[string]float64{"adam": 0.02, "sgd": 0.03}
	tests := []struct {
		name string
		c    Config
		want float64
	}{
		{"rate", Config{Name: "adam", LearningRate: new(0.5), LearningRates: byName}, 0.5},
		{"by name", Config{Name: "adam", LearningRates: byName}, 0.02},
		{"default", Config{Name: "adadelta", LearningRates: byName}, 0.001},
		{"default of adamw", Config{Name: "adamw"}, 0.001},
		{"none", Config{Name: "ftrl", LearningRates: byName}, 0},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			if got := tt.c.Rate(); got != tt.want {
				t.Errorf("rate is %g, want %g", got, tt.want)
			}
		})
	}
}
