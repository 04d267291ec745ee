package job

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ringtrain/model/train/report"
)

// TestGuard verifies how export.if is read, from files and from --set, how a job file has it, and what it refuses.
func TestGuard(t *testing.T) {
	const clicks = "model: {kind: sparse-linear, features: 9}\ninput: {synthetic: true}\noptimizer: {learning_rate: 0.1}\n"
	for _, tt := range []struct {
		file, set string
		want      string // of the job's value; of a fault a part of it
	}{
		{"", "", "[sound]"},
		{"export: {if: always}", "", "[always]"},
		{"export: {if: [auc >= 0.6]}", "", "[auc >= 0.6]"},
		{"export: {if: auc>=0.60}", "", "[auc >= 0.6]"},
		{"export:\n  if:\n    - sound\n    - loss < 1e-1\n", "", "[sound loss < 0.1]"},
		{"", "export.if=auc > 0.5, log_loss <= 0.7", "[auc > 0.5 log_loss <= 0.7]"},
		{"export: {if: [always, auc >= 0.6]}", "", "export.if[0] is always, want it alone"},
		{"export: {if: [auk >= 0.6]}", "", `export.if[0] is of "auk" (did you mean auc?), want one of loss, accuracy, auc, log_loss, normalized_entropy, calibration`},
		{"export: {if: [rmse <= 3]}", "", `export.if[0] is of "rmse"`},
		{"export: {if: soun}", "", "export.if is soun (did you mean sound?), want sound, always, or conditions such as auc >= 0.6"},
		{"export: {if: auc = 0.6}", "", "want sound, always, or conditions"},
		{"export: {if: auc >= NaN}", "", "want sound, always, or conditions"},
		{"export: {if: auc >= 0.6}\ntrain: {average: {decay: 0.9, export: true}}", "", "export.if is [auc >= 0.6], which needs train.average.evaluate and train.average.export alike"},
	} {
		var sets []string
		if tt.set != "" {
			sets = []string{tt.set}
		}
		cfg, err := load(t, clicks+tt.file+"\n", nil, sets)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s%s: error %v, want %q in it", tt.file, tt.set, err, tt.want)
			}
			continue
		}
		if got := fmt.Sprint(cfg.Export.If); got != tt.want {
			t.Errorf("%s%s is %s, want %s", tt.file, tt.set, got, tt.want)
		}
		text, err := cfg.File()
		if err != nil {
			t.Fatal(err)
		}
		again, err := load(t, string(text), nil, nil)
		if err != nil || fmt.Sprint(again.Export.If) != tt.want {
			t.Errorf("%s%s: the job file has another guard, error %v", tt.file, tt.set, err)
		}
	}
}

// TestConditions verifies which values hold a condition, that NaN and no evaluation hold none, and what is told.
func TestConditions(t *testing.T) {
	for _, tt := range []struct {
		condition string
		value     float64 // infinite: there is no evaluation
		want      string
	}{
		{"auc >= 0.6", 0.6, ""},
		{"auc >= 0.6", 0.5061, "export.if: auc is 0.506, want >= 0.6"},
		{"auc >= 0.6", 0.599961, "export.if: auc is 0.59996, want >= 0.6"},
		{"auc > 0.6", 0.6, "export.if: auc is 0.6, want > 0.6"},
		{"loss <= 1", 1, ""},
		{"loss < 1", 1, "export.if: loss is 1, want < 1"},
		{"loss < 1", math.NaN(), "export.if: loss is NaN, want < 1"},
		{"auc >= 0.6", math.Inf(1), "export.if: auc is not known, want >= 0.6: there is no evaluation of the model"},
	} {
		var c Condition
		if err := c.UnmarshalText([]byte(tt.condition)); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := (Guard{{Name: Sound}, c}).Allows(func(string) (float64, bool) { return tt.value, !math.IsInf(tt.value, 0) }); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s of %g: %q, want %q", tt.condition, tt.value, got, tt.want)
		}
	}
}

// TestMetricNames verifies that each metric that a job may name is a number of an evaluation that has all.
func TestMetricNames(t *testing.T) {
	n := report.NewNumber(1)
	all := MetricsOf(&report.Metrics{Accuracy: n, AUC: n, RMSE: n, MAE: n, R2: n, TopK: n, LogLoss: n, NormalizedEntropy: n, Calibration: n})
	for _, m := range metrics {
		if _, ok := all[m.name]; !ok || len(all) != len(metrics) {
			t.Errorf("an evaluation has %v, want %s and %d metrics", all, m.name, len(metrics))
		}
	}
}
