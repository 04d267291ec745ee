package speed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/bench/child"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// line returns an event of a run, ms milliseconds after its start.
func line(event string, ms int, fields string) []byte {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
	return fmt.Appendf(nil, `{"event":%q,"time":%q%s}`, event, at.Format(time.RFC3339Nano), fields)
}

// TestWindow verifies that steps before the warm-up do not count, that rates are
// weighted by time, and that compute excludes update.
func TestWindow(t *testing.T) {
	w := window{warm: time.Second, measure: 2 * time.Second}
	w.add(line("step", 0, `,"examples":1,"interval_s":1`)) // before the start
	w.add(line("start", 0, `,"parameters":7850,"kernels":"avx2"`))
	w.add([]byte("words"))
	w.add(line("step", 1000, `,"examples":5,"interval_s":1,"input_s":1`))
	w.add(line("eval", 1500, `,"examples":9`))
	w.add(line("step", 2000, `,"examples":100,"interval_s":1,"input_s":0.1,"compute_s":0.5,"exposed_s":0.2,"update_s":0.3,"loss":"NaN"`))
	if w.full() {
		t.Fatal("full after one second, want two")
	}
	w.add(line("step", 5000, `,"examples":600,"interval_s":3,"input_s":0.1,"compute_s":2.5,"exposed_s":0.2,"update_s":0.3,"loss":0.5`))
	if !w.full() {
		t.Fatal("not full after four seconds, want two")
	}
	r, err := w.result()
	if err != nil {
		t.Fatal(err)
	}
	if r.ExamplesPerS != 175 || r.Loss != 0.5 || r.Parameters != 7850 || r.Kernels != "avx2" {
		t.Errorf("result is %+v, want 175 examples/s, loss 0.5, 7850 parameters, avx2", r)
	}
	got, want := [4]float64{r.Input, r.Compute, r.Exchange, r.Update}, [4]float64{0.2 / 3.6, 2.4 / 3.6, 0.4 / 3.6, 0.6 / 3.6}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("shares are %v, want %v", got, want)
			break
		}
	}
}

// TestRunEnds verifies that a run is stopped after its measurement, and that the error
// of a run that ends earlier has its standard error.
func TestRunEnds(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	script := "#!/bin/sh\n" + `case "$*" in *run*) echo no such job >&2; exit 64;; esac` + "\n" +
		"echo '" + string(line("start", 0, "")) + "'\n" +
		"echo '" + string(line("step", 10, `,"examples":1,"interval_s":0.01,"compute_s":1,"loss":1`)) + "'\nexec sleep 60\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := Run{Program: program, Job: "mnist", Ranks: 1, Measure: time.Millisecond}.Time(t.Context())
	if err != nil || math.Abs(r.ExamplesPerS-100) > 1e-9 {
		t.Errorf("%v examples/s, error %v; want 100", r.ExamplesPerS, err)
	}
	_, err = Run{Program: program, Job: "mnist", Ranks: 2, Measure: time.Millisecond}.Time(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no such job") || !strings.Contains(err.Error(), "run -np 2 --json --verbose mnist") {
		t.Errorf("error is %v, want what the program said, and its command line", err)
	}
}

// TestSession verifies the life of a driver: its description, its turns, other lines,
// and its possible ends.
func TestSession(t *testing.T) {
	sh := func(text string) child.Process { return child.Process{Argv: []string{"sh", "-c", text}} }
	turns := `echo noise; echo '{"library":"Lib 1"}'; while read s; do echo "{\"examples_per_s\":$s,\"loss\":1}"; done`
	s, err := newSession(t.Context(), []child.Process{sh(turns), sh("exec sleep 0.01")})
	if err != nil {
		t.Fatal(err)
	}
	for _, seconds := range []time.Duration{time.Second, 2 * time.Second} {
		a, err := s.turn(seconds)
		if err != nil || a.ExamplesPerS != seconds.Seconds() {
			t.Errorf("turn of %v is %+v, error %v", seconds, a, err)
		}
	}
	s.close()
	for _, c := range []struct{ text, want string }{
		{"echo cannot import torch >&2; exit 3", "cannot import torch"},
		{"true", "all of its processes have ended"},
		{`echo '{"examples_per_s":1}'; cat`, "does not say what it runs"},
	} {
		if _, err := newSession(t.Context(), []child.Process{sh(c.text)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %s", c.text, err, c.want)
		}
	}
	s, err = newSession(t.Context(), []child.Process{sh(turns), sh("sleep 0.01; echo lost >&2; exit 4")})
	for err == nil {
		_, err = s.turn(time.Second)
	}
	if !strings.Contains(err.Error(), "lost") {
		t.Errorf("error is %v, want that of the second process", err)
	}
	if s != nil {
		s.close()
	}
}

// TestAnswerCases verifies that ringtrain reads the job file of each exported model, and that a request
// has as many records as its case says.
func TestAnswerCases(t *testing.T) {
	folder := t.TempDir()
	for _, c := range answerCases() {
		text, err := exportJob(t.Context(), folder, c.answers.exports, 0)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, c.Name+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if cfg, err := job.Load(path, nil, nil); err != nil || cfg.Train.Steps == 0 {
			t.Errorf("%s: job is %+v, error %v", c.Name, cfg, err)
		}
		r, err := Request(folder, c.answers.exports, c.answers.records)
		if err != nil || r.Shape[0] != c.answers.records || len(r.Float32) != 784*c.answers.records && len(r.Bytes) != c.answers.records {
			t.Errorf("%s: a request of %v, %v", c.Name, r.Shape, err)
		}
	}
}

// TestCasesLoad verifies that ringtrain reads the job file of each case, also with a
// fixed kernel set.
func TestCasesLoad(t *testing.T) {
	for _, c := range cases() {
		if c.sgemm > 0 {
			continue
		}
		o := &ringtrainJob{}
		w := work{Case: c, records: records{images: "images", labels: "labels"}, folder: t.TempDir(), kernels: kernelsAVX2}
		if _, err := o.open(t.Context(), w); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		cfg, err := job.Load(o.job, nil, o.sets)
		if err != nil || cfg.Train.Kernels != kernelsAVX2 || cfg.Input.Batch != c.batch || string(cfg.Optimizer.Name) != c.optimizer || !cfg.Input.Shuffle {
			t.Errorf("%s: job is %+v, error %v", c.Name, cfg, err)
		}
	}
}

// TestBarsNameContenders verifies that each bar names contenders of its case.
func TestBarsNameContenders(t *testing.T) {
	for _, c := range slices.Concat(casesOf(Images), casesOf(Clicks), casesOf(Input)) {
		for _, b := range c.bars {
			for _, name := range append([]string{b.ours}, b.theirs...) {
				if !slices.Contains(c.who, name) {
					t.Errorf("%s: a bar names %s, which has no turn", c.Name, name)
				}
			}
			if b.want <= 0 || !isRingtrain(b.ours) || c.Name != tableCase && slices.ContainsFunc(b.theirs, isRingtrain) {
				t.Errorf("%s: bar %+v", c.Name, b)
			}
		}
		for _, name := range c.who {
			if newContender(name, "") == nil {
				t.Errorf("%s: no contender %s", c.Name, name)
			}
		}
	}
}

// TestWithoutZeros verifies that zero pixels, and only these, get a random value above
// 0.
func TestWithoutZeros(t *testing.T) {
	folder := t.TempDir()
	from := filepath.Join(folder, "images")
	text := append(make([]byte, imageHeader), 0, 200, 0, 255, 0, 1)
	if err := os.WriteFile(from, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := records{images: from, labels: "labels"}.withoutZeros(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(r.images)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got[:imageHeader], text[:imageHeader]) || r.labels != "labels" {
		t.Errorf("header is %v", got[:imageHeader])
	}
	for i, b := range got[imageHeader:] {
		if was := text[imageHeader+i]; was != 0 && b != was || was == 0 && (b == 0 || b > drawnBelow) {
			t.Errorf("pixel %d is %d, was %d", i, b, was)
		}
	}
	if _, err := (records{images: from + "x"}).withoutZeros(t.Context(), folder); err == nil {
		t.Error("no error without the file")
	}
}

// fake is a contender with given turns. A rate of 0 is a failure.
type fake struct {
	name   string
	rates  []float64
	opened error
	order  *[]string
	loss   float64
}

func (f *fake) open(context.Context, work) (string, error) { return "its library", f.opened }
func (f *fake) close()                                     {}
func (f *fake) turn(context.Context, time.Duration) (turn, error) {
	*f.order = append(*f.order, f.name)
	r := f.rates[0]
	f.rates = f.rates[min(1, len(f.rates)-1):]
	if r == 0 {
		return turn{}, errors.New("broken")
	}
	return turn{rate: r, loss: f.loss}, nil
}

// compared runs a case with fakes and returns the figures, the order of turns, and all
// lines and events.
func compared(t *testing.T, c Case, rounds int, all map[string]*fake) (f *figures, order []string, said string) {
	t.Helper()
	var words strings.Builder
	p := &Comparison{
		Output: child.Output{Print: func(s string) { words.WriteString(s + "\n") }, Log: func(s string) { words.WriteString(s + "\n") }}, announced: map[string]bool{},
		make: func(name, _ string) contender { all[name].order, all[name].name = &order, name; return all[name] },
	}
	f = newFigures(c)
	p.compare(t.Context(), work{Case: c}, Config{Rounds: rounds}, f)
	p.rows(f)
	p.verdicts([]*figures{f})
	return f, order, words.String()
}

// TestCompare verifies turns, medians, ratios and bars, and the treatment of libraries
// that fail, are missing, or do not learn.
func TestCompare(t *testing.T) {
	c := Case{Name: "test", Text: "a test", who: []string{twoRanks, oneRank, torchOne, torchDDP, tfFit, numpyMPI}, bars: []bar{
		{twoRanks, []string{torchOne, torchDDP}, 2},
		{oneRank, []string{torchOne, tfFit}, 2},
		{oneRank, []string{numpyMPI}, 2},
	}}
	f, order, said := compared(t, c, 3, map[string]*fake{
		twoRanks: {rates: []float64{400, 0, 300, 500}, loss: 1},
		oneRank:  {rates: []float64{150}, loss: 1},
		torchOne: {rates: []float64{100, 200, 10}, loss: 1},
		torchDDP: {rates: []float64{50, 0, 0}, loss: 1},
		tfFit:    {rates: []float64{900}, loss: 2.3},
		numpyMPI: {opened: errors.New("no mpirun")},
	})
	if want := []string{twoRanks, oneRank, torchOne, torchDDP, tfFit, tfFit, oneRank, torchOne}; len(order) < 8 || !slices.Equal(order[:8], want) {
		t.Errorf("turns are %q, want %q first", order, want)
	}
	if r, _ := f.rate(twoRanks); r != 400 {
		t.Errorf("rate of %s is %v, want 400, the median", twoRanks, r)
	}
	for _, want := range []string{
		"test       ringtrain, 2 ranks   met            4.00 [2.00] of PyTorch, 1 thread",
		"test       ringtrain, 1 rank    SHORT          1.50 [2.00] of PyTorch, 1 thread; without TensorFlow, fit",
		"test       ringtrain, 1 rank    not measured ; without numpy, mpi4py, 2 ranks",
		"numpy, mpi4py, 2 ranks is left out: no mpirun",
		"TensorFlow, fit is left out: loss is 2.3 at the end of a turn, want below 2.2",
		"PyTorch, DDP, 2 ranks is left out: broken",
		"ringtrain, 2 ranks has failed and is tried again: broken",
		"numpy, mpi4py, 2 ranks              missing",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it lacks %q:\n%s", want, said)
		}
	}
	if err := failure([]*figures{f}); err != nil {
		t.Errorf("error is %v, want none: ringtrain's second try was good", err)
	}
}

// TestCompareOursFails verifies that a failure of ringtrain fails the command.
func TestCompareOursFails(t *testing.T) {
	c := Case{Name: "test", who: []string{twoRanks, oneRank, torchOne}, bars: []bar{
		{twoRanks, []string{torchOne}, 1}, {oneRank, []string{torchOne}, 1},
	}}
	f, _, said := compared(t, c, 1, map[string]*fake{
		twoRanks: {rates: []float64{0, 0}}, oneRank: {opened: errors.New("no job")}, torchOne: {rates: []float64{1}, loss: 1},
	})
	if err := failure([]*figures{f}); exitcode.Of(err) != exitcode.Failed || !strings.Contains(err.Error(), "test, ringtrain, 2 ranks: broken") {
		t.Errorf("error is %v, want Failed with its cause", err)
	}
	for _, want := range []string{"ringtrain, 2 ranks   NOT MET", "ringtrain, 1 rank    NOT MET", "FAILED"} {
		if !strings.Contains(said, want) {
			t.Errorf("it lacks %q:\n%s", want, said)
		}
	}
}

// TestConfigCheck verifies that Check returns all errors at once.
func TestConfigCheck(t *testing.T) {
	err := Config{Cases: []string{"resnet"}, Kernels: "sse"}.Check()
	for _, want := range []string{"--rounds is 0", "--turn is 0s", `--kernels is "sse"`, `--cases has "resnet", want one of softmax, mlp, mlp-dense, cnn, mlp-10m, sgemm-256`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	if exitcode.Of(err) != exitcode.Usage {
		t.Errorf("code is %d, want Usage", exitcode.Of(err))
	}
}

// TestLibraryEnvironment verifies that the workers of a cluster know each other, and
// that avx2 restricts each library.
func TestLibraryEnvironment(t *testing.T) {
	env, err := clusterEnv(2)
	if err != nil || len(env) != 2 || !strings.Contains(env[1][0], `"index":1`) || strings.Count(env[0][0], "127.0.0.1:") != 2 {
		t.Errorf("TF_CONFIG is %q, error %v", env, err)
	}
	held := strings.Join(kernelsEnv("avx2"), " ")
	for _, name := range []string{"ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE"} {
		if !strings.Contains(held, name) {
			t.Errorf("avx2 sets %q, want %s", held, name)
		}
	}
	if len(kernelsEnv("")) != 0 {
		t.Error("a choice of their own sets variables")
	}
	for _, name := range []string{torchTwo, tfWorkers, numpyMPI} {
		s := newContender(name, "").(*library).of
		if _, err := drivers.ReadFile("drivers/" + s.driver); err != nil {
			t.Error(err)
		}
		processes, err := s.processes("python3", "folder", "case.json", 2)
		if want := 2; err != nil || s.launcher == "" && len(processes) != want || s.launcher != "" && processes[0].Argv[0] != "mpirun" {
			t.Errorf("%s: processes is %v, error %v", s.driver, processes, err)
		}
	}
}

// TestPresetJobs verifies that ringtrain reads the job of each preset, with drawn
// records.
func TestPresetJobs(t *testing.T) {
	for _, p := range model.Presets() {
		path, err := WritePreset(t.TempDir(), p[0])
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := job.Load(path, nil, untouched())
		if err != nil || !cfg.Input.Synthetic || string(cfg.Model.Kind) != p[0] || cfg.Input.Batch != settingOf(p[0]).batch {
			t.Errorf("%s: job is %+v, error %v", p[0], cfg, err)
		}
	}
}

// TestTrial verifies the turns of settings, their order, medians, spread and speed-up, and the error of a
// setting that fails.
func TestTrial(t *testing.T) {
	dir := t.TempDir()
	program, calls := filepath.Join(dir, "program"), filepath.Join(dir, "calls")
	script := "#!/bin/sh\n" + `echo "$*" >> ` + calls + "\n" + `case "$*" in *"-np 8"*) echo broken >&2; exit 70;; *"-np 2"*) rate=300;; *) rate=100;; esac` + "\n" +
		"echo '" + string(line("start", 0, `,"parameters":5,"global_batch":50`)) + "'\n" +
		"echo '" + string(line("ranks", 5, `,"ranks":[{"rank":0,"rss_bytes":7},{"rank":1,"rss_bytes":9}]`)) + "'\n" +
		`echo '{"event":"step","time":"2026-01-01T00:00:01Z","compute_s":1,"exposed_s":1,"loss":1,"interval_s":1,"examples":'$rate'}'` + "\nexec sleep 60\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	trial := Trial{
		Program: program, Job: "job.yaml", Name: "job", Settings: []Setting{{1, ""}, {2, "int8"}}, Sets: []string{"a=b"}, Rounds: 3,
		Measure: time.Millisecond, Cores: 1, Log: func(string) {},
	}
	rows, err := trial.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Tried{
		{Job: "job", Ranks: 1, ExamplesPerS: 100, SpeedUp: 1, Compute: 0.5, Exchange: 0.5, RSS: 9},
		{Job: "job", Ranks: 2, Codec: "int8", ExamplesPerS: 300, SpeedUp: 3, Compute: 0.5, Exchange: 0.5, RSS: 9, Note: "2 ranks share 1 core"},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("rows are %+v, want %+v", rows, want)
	}
	text, _ := os.ReadFile(calls)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "train --json") || !strings.HasPrefix(lines[1], "run -np 2 --json") || !strings.HasPrefix(lines[2], "train ") {
		t.Errorf("calls are\n%s\nwant one rank and two in turns", text)
	}
	for _, set := range append(untouched(), "a=b", "allreduce.codec=int8") {
		if !strings.Contains(lines[1], "--set "+set) {
			t.Errorf("%q lacks %s", lines[1], set)
		}
	}
	trial.Settings = []Setting{{8, "bf16"}}
	if _, err := trial.Run(t.Context()); exitcode.Of(err) != exitcode.Failed || !strings.HasPrefix(err.Error(), "job on 8 ranks, codec bf16: run") || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error is %v, want the failure of 8 ranks", err)
	}
}

// TestAdvise verifies that settings within the noise are equal, that the fewest ranks and an exact codec
// are taken of equal ones, and the hints.
func TestAdvise(t *testing.T) {
	row := func(ranks int, codec string, rate, spread, input, exchange float64) Tried {
		return Tried{Ranks: ranks, Codec: codec, ExamplesPerS: rate, Spread: spread, SpeedUp: rate / 100, Input: input, Exchange: exchange}
	}
	for _, tt := range []struct {
		name string
		rows []Tried
		want string
	}{
		{"faster", []Tried{row(1, "", 100, 0.02, 0.1, 0), row(2, "", 179, 0.03, 0.35, 0.1), row(4, "", 147, 0.08, 0.2, 0.5)},
			"-np 2: 1.79 times one rank. Reading is 35 % of a step: input.cache, or ringtrain data convert"},
		{"equal", []Tried{row(1, "", 100, 0.1, 0, 0), row(2, "", 110, 0.1, 0, 0.4), row(4, "", 60, 0.1, 0, 0.5)},
			"-np 1: nothing that was tried is faster beyond the spread of the turns"},
		{"alone", []Tried{row(1, "", 100, 0, 0.1, 0)}, "-np 1: nothing else was tried"},
		{"slower", []Tried{row(1, "", 100, 0, 0, 0), row(2, "", 50, 0, 0, 0.5)}, "-np 1: more ranks are slower here"},
		{"exchange", []Tried{row(2, "", 100, 0, 0, 0.1), row(4, "", 150, 0, 0.1, 0.46)},
			"-np 4: 1.50 times 2 ranks. Waiting for the exchange is 46 % of a step: a larger input.batch has fewer of them"},
		{"exact codec", []Tried{row(1, "", 100, 0, 0, 0), row(2, "bf16", 152, 0.1, 0, 0), row(2, "none", 150, 0, 0, 0)}, "-np 2 --codec none: 1.50 times one rank"},
		{"lossy codec", []Tried{row(1, "", 100, 0, 0, 0), row(2, "none", 130, 0, 0, 0), row(2, "int8", 180, 0, 0, 0)},
			"-np 2 --codec int8: 1.80 times one rank. The codec int8 rounds: compare the metric by a whole run"},
	} {
		if d := Advise(tt.rows); d.Choice+": "+d.Why != tt.want {
			t.Errorf("%s: advice is %q, want %q", tt.name, d.Choice+": "+d.Why, tt.want)
		}
	}
}

// TestLastKernel verifies that the last row counts.
func TestLastKernel(t *testing.T) {
	rows := `{"event":"kernel","gflop_s":7}
{"event":"other","gflop_s":3}
{"event":"kernel","gflop_s":100}
words
`
	if r, err := lastKernel([]byte(rows)); err != nil || r.rate != 100 {
		t.Errorf("rate is %v, error %v; want 100", r.rate, err)
	}
	if _, err := lastKernel(nil); err == nil {
		t.Error("no error without rows")
	}
}
