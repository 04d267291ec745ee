package optimizer

import (
	"math"
	"testing"
)

// TestSchedule verifies the rates of the first step, the end of warm-up, the last step,
// and beyond the end, for runs that were made longer.
func TestSchedule(t *testing.T) {
	const base = 0.8
	tests := []struct {
		name string
		c    ScheduleConfig
		want map[int64]float64
	}{
		{"kind=default", ScheduleConfig{}, map[int64]float64{0: 0.8, 99: 0.8, 1e9: 0.8}},
		{"kind=constant/warmup=4", ScheduleConfig{Kind: "constant", WarmupSteps: 4}, map[int64]float64{0: 0.2, 1: 0.4, 3: 0.8, 4: 0.8}},
		{"kind=linear", ScheduleConfig{Kind: "linear"}, map[int64]float64{0: 0.8, 50: 0.4, 99: 0.008, 100: 0, 1e9: 0}},
		{"kind=linear/steps=10/end", ScheduleConfig{Kind: "linear", Steps: 10, End: 0.3}, map[int64]float64{0: 0.8, 5: 0.55, 10: 0.3, 99: 0.3}},
		{"kind=linear/warmup=20", ScheduleConfig{Kind: "linear", WarmupSteps: 20}, map[int64]float64{0: 0.04, 19: 0.8, 20: 0.8, 60: 0.4, 100: 0}},
		{"kind=linear/warmup beyond", ScheduleConfig{Kind: "linear", WarmupSteps: 200}, map[int64]float64{0: 0.004, 199: 0.8, 200: 0}},
		{"kind=cosine", ScheduleConfig{Kind: "cosine"}, map[int64]float64{0: 0.8, 25: 0.4 * (1 + math.Sqrt2/2), 50: 0.4, 100: 0, 101: 0}},
		{"kind=cosine/end", ScheduleConfig{Kind: "cosine", End: 0.2}, map[int64]float64{0: 0.8, 50: 0.5, 100: 0.2}},
		{"kind=exponential", ScheduleConfig{Kind: "exponential", DecayRate: 0.25, DecaySteps: 10},
			map[int64]float64{0: 0.8, 5: 0.4, 10: 0.2, 20: 0.05, 200: 0.8 * math.Pow(0.25, 20)}},
		{"kind=exponential/staircase", ScheduleConfig{Kind: "exponential", DecayRate: 0.25, DecaySteps: 10, Staircase: true},
			map[int64]float64{0: 0.8, 9: 0.8, 10: 0.2, 19: 0.2, 20: 0.05}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := NewSchedule(tt.c, base, 100)
			if err != nil {
				t.Fatal(err)
			}
			for step, want := range tt.want {
				if got := float64(s.Rate(step)); !(math.Abs(got-want) <= 1e-7*want+1e-16) {
					t.Errorf("rate of step %d is %g, want %g", step, got, want)
				}
			}
		})
	}
}

// TestScheduleOfNothing verifies that a run without steps has finite rates.
func TestScheduleOfNothing(t *testing.T) {
	for _, kind := range []ScheduleKind{"constant", "linear", "cosine"} {
		s, err := NewSchedule(ScheduleConfig{Kind: kind}, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Rate(0); !(got == 0 || got == 1) {
			t.Errorf("%s: rate is %g", kind, got)
		}
	}
}

// TestScheduleCheck verifies that Check returns all errors of a config.
func TestScheduleCheck(t *testing.T) {
	tests := []struct {
		name string
		c    ScheduleConfig
		want string
	}{
		{"kind", ScheduleConfig{Kind: "poly"}, `schedule.kind is "poly", want one of constant, linear, exponential, cosine`},
		{"negative", ScheduleConfig{Kind: "linear", Steps: -1, WarmupSteps: -2, End: -3},
			"schedule.steps is -1, want 0 or more\nschedule.warmup_steps is -2, want 0 or more\nschedule.end is -3, want 0 or more"},
		{"NaN", ScheduleConfig{Kind: "cosine", End: math.NaN()}, "schedule.end is NaN, want 0 or more"},
		{"exponential", ScheduleConfig{Kind: "exponential", DecayRate: 1.5},
			"schedule.decay_rate is 1.5, want above 0 and at most 1\nschedule.decay_steps is 0, want 1 or more"},
		{"misfits", ScheduleConfig{Steps: 5, End: 1, DecaySteps: 3},
			"schedule.end is 1, want none with schedule.kind constant\nschedule.decay_steps is 3, want none with schedule.kind constant"},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			_, err := NewSchedule(tt.c, 1, 10)
			wantUsage(t, err, tt.want)
		})
	}
}
