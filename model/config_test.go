package model

import (
	"testing"

	"ringtrain/ring/exitcode"
)

// TestConfigCheck: whoever has three faults in a job file reads all three, and
// the job ends with the code of wrong usage.
func TestConfigCheck(t *testing.T) {
	tests := []struct {
		name string
		c    Config
		want string
	}{
		{"linear", Config{Kind: "linear"}, ""},
		{"softmax", Config{Kind: "softmax", Classes: 10, Features: 784}, ""},
		{"mlp", Config{Kind: "mlp", Classes: 10, Hidden: []int{30}, Activation: "relu"}, ""},
		{"sparse-linear", Config{Kind: "sparse-linear"}, ""},
		{"no kind", Config{}, `model.kind is "", want one of linear, softmax, mlp, sparse-linear`},
		{"not built", Config{Kind: "cnn", Classes: 10}, "model.kind is cnn, which is not built yet, want one of linear, softmax, mlp, sparse-linear"},
		{"no classes", Config{Kind: "softmax"}, "model.classes is 0, want 2 or more"},
		{"misfits", Config{Kind: "linear", Classes: 3, Features: -1, Hidden: []int{2}, Activation: "relu"},
			"model.features is -1, want 1 or more, or 0 for as many as the data has\n" +
				"model.classes is 3, want none with model.kind linear\n" +
				"model.hidden is [2], want none with model.kind linear\n" +
				"model.activation is relu, want none with model.kind linear"},
		{"hidden", Config{Kind: "mlp", Classes: 2, Hidden: []int{4, 0}, Activation: "tanh"},
			"model.hidden[1] is 0, want 1 or more\nmodel.activation is \"tanh\", want relu"},
		{"no hidden", Config{Kind: "mlp", Classes: 2}, "model.hidden is empty, want one size or more with model.kind mlp"},
		{"too large", Config{Kind: "mlp", Classes: 1 << 40, Features: 1 << 60, Hidden: []int{1 << 62}},
			"model has more than 4294967296 parameters: make model.features, model.hidden or model.classes smaller"},
		{"too large together", Config{Kind: "mlp", Classes: 2, Features: 60000, Hidden: []int{60000, 60000}},
			"model has more than 4294967296 parameters: make model.features, model.hidden or model.classes smaller"},
		{"large", Config{Kind: "mlp", Classes: 2, Features: 60000, Hidden: []int{60000}}, ""},
		{"id from a broken file", Config{Kind: "sparse-linear", Features: 1<<63 - 1},
			"model has more than 4294967296 parameters: make model.features, model.hidden or model.classes smaller"},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) { wantUsage(t, tt.c.Check(), tt.want) })
	}
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

// TestParseLoss: auto is the loss that fits, and another one is refused and not
// trained with.
func TestParseLoss(t *testing.T) {
	tests := []struct {
		c    LossConfig
		kind string
		want Loss
		err  string
	}{
		{LossConfig{}, "linear", Squared, ""},
		{LossConfig{Kind: "auto", Reduction: "mean"}, "softmax", Softmax, ""},
		{LossConfig{Kind: "softmax", Reduction: "sum"}, "mlp", Softmax, ""},
		{LossConfig{Kind: "sigmoid"}, "sparse-linear", Sigmoid, ""},
		{LossConfig{Kind: "sigmoid"}, "linear", 0, "loss.kind is sigmoid, want auto or squared with model.kind linear"},
		{LossConfig{Kind: "hinge", Reduction: "max"}, "linear", 0,
			"loss.kind is \"hinge\", want one of auto, squared, softmax, sigmoid\nloss.reduction is \"max\", want one of mean, sum"},
		{LossConfig{}, "x", 0, `model.kind is "x", want one of linear, softmax, mlp, sparse-linear`},
	}
	for _, tt := range tests {
		t.Run("kind="+tt.c.Kind+"/reduction="+tt.c.Reduction+"/model="+tt.kind, func(t *testing.T) {
			got, err := ParseLoss(tt.c, Config{Kind: tt.kind})
			wantUsage(t, err, tt.err)
			if got != tt.want {
				t.Errorf("loss is %v, want %v", got, tt.want)
			}
		})
	}
	if !(LossConfig{Reduction: "sum"}).Sum() || (LossConfig{}).Sum() {
		t.Error("Sum is wrong: want it for sum only")
	}
}

// TestNewRefuses: what Check cannot know yet.
func TestNewRefuses(t *testing.T) {
	_, err := New(Config{Kind: "linear"}, Squared)
	wantUsage(t, err, "model.features is 0, want 1 or more")
	_, err = New(Config{Kind: "linear", Features: 1}, Softmax)
	wantUsage(t, err, "loss.kind is softmax, want squared with model.kind linear")
	_, err = New(Config{Kind: "linear", Features: -1}, Squared)
	wantUsage(t, err, "model.features is -1, want 1 or more, or 0 for as many as the data has")
}
