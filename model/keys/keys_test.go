package keys

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestTakes verifies what each form of values refuses, and what is wanted instead.
func TestTakes(t *testing.T) {
	const within = ", within the range of float32"
	for _, tt := range []struct {
		takes Takes
		value any
		want  string
	}{
		{"mean, sum", "sum", ""}, {"mean, sum", "max", "mean or sum"}, {"a, b, c", "d", "one of a, b, c"}, {"log1p", "log", "log1p"}, {"log1p", "log1p", ""},
		{"auto, off, or a folder", "x", ""}, {"", "x", ""}, {"", math.NaN(), ""},
		{"2 or more", 1, "2 or more"}, {"2 or more", 2, ""}, {"2 or more", 1.5, "2 or more"}, {"0 or more", uint64(math.MaxUint64), ""},
		{"0 or less", 0.0, ""}, {"0 or less", 0.5, "0 or less"},
		{"1 to 64", 0, "1 to 64"}, {"1 to 64", 64, ""}, {"1 to 64", 65, "1 to 64"},
		{"above 0", 0.0, "above 0"}, {"above 0", 1e-50, "above 0"}, {"above 0", 1e39, "above 0" + within},
		{"0 or more", 1e-50, "0 or more" + within}, {"0 or more", math.NaN(), "0 or more"}, {"0 or more", math.Inf(1), "0 or more" + within},
		{"above 0 and at most 1", 1.0, ""}, {"above 0 and at most 1", 1.1, "above 0 and at most 1"},
		{"0 or more and below 1", 1.0, "0 or more and below 1"}, {"0 or more and below 1", 0.9999999999, "0 or more and below 1"},
		{"4KiB or more", 4095, "4KiB or more"}, {"4KiB or more", 4096, ""}, {"64MiB or more", 1 << 26, ""},
	} {
		if got := tt.takes.Refuses(reflect.ValueOf(tt.value)); got != tt.want {
			t.Errorf("%q with %v wants %q, want %q", tt.takes, tt.value, got, tt.want)
		}
	}
}

// group has a key of each kind.
type group struct {
	Size    int                `yaml:"size" default:"3" takes:"1 or more" doc:"As ‘du’ has it."`
	Word    string             `yaml:"word" absent:"mean" takes:"mean, sum"`
	Rate    *float64           `yaml:"rate" absent:"0.5" takes:"above 0"`
	Units   int                `yaml:"units" need:"yes" takes:"1 or more"`
	Weights []float64          `yaml:"weights" absent:"2" takes:"0 or more"`
	Rates   map[string]float64 `yaml:"rates" takes:"above 0"`
	In      struct {
		On bool  `yaml:"on" default:"true"`
		N  int64 `yaml:"n" takes:"0 to 9"`
	} `yaml:"in"`
	hidden int
}

// TestCheck verifies the faults of a group: of values of all kinds, of groups within it, of what is
// missing, and of no other.
func TestCheck(t *testing.T) {
	g := New(reflect.TypeFor[group]()).Interface().(group)
	if g.Size != 3 || !g.In.On || g.Word != "" || g.Rate != nil {
		t.Errorf("a new group is %+v, want its defaults", g)
	}
	filled := Fill(g)
	if filled.Word != "mean" || *filled.Rate != 0.5 || filled.Size != 3 || fmt.Sprint(filled.Weights) != "[2]" || g.Rate != nil {
		t.Errorf("filled it is %+v", filled)
	}
	g.Word, g.Rate, g.Weights, g.Rates, g.In.N = "men", new(0.0), []float64{1, -1}, map[string]float64{"b": 1, "a": 0}, 10
	want := []string{`a.word is "men" (did you mean mean?), want mean or sum`, "a.rate is 0, want above 0", "a.units is 0, want 1 or more",
		"a.weights[1] is -1, want 0 or more", "a.rates.a is 0, want above 0", "a.in.n is 10, want 0 to 9"}
	if got := lines(Check("a", &g)); got != strings.Join(want, "\n") {
		t.Errorf("faults are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	g.Weights = []float64{}
	if got, want := lines(Unused("a", &g, []string{"size", "in", "rates"}, "x 1")), "a.word is men, want none with x 1\na.rate is 0, want none with x 1"; got != want {
		t.Errorf("unused are\n%s\nwant\n%s", got, want)
	}
	if got, want := lines(Missing("a", &g, []string{"units", "word"})), "a.units is 0, want 1 or more"; got != want {
		t.Errorf("missing is %s, want %s", got, want)
	}
	if f, ok := Find(&g, "size"); !ok || f.Doc() != "As `du` has it." {
		t.Errorf("size is %+v, %v", f, ok)
	}
	g.hidden = 1
}

func lines(errs []error) string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return strings.Join(all, "\n")
}
