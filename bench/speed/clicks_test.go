package speed

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input/synth"
	"ringtrain/model/job"
)

// small is a case with few records.
func small(c Case) Case {
	c.click.rows, c.click.ids = 60, 5000
	return c
}

// TestClickJobs verifies that ringtrain reads the job file of each case, format and
// table, or that the case reports what is lacking.
func TestClickJobs(t *testing.T) {
	for _, c := range clickCases() {
		c = small(c)
		folder := t.TempDir()
		log, err := c.click.draw(t.Context(), filepath.Join(folder, "log"))
		if err != nil {
			t.Fatal(err)
		}
		for key, file := range log.texts {
			format, spread := strings.Split(key, "-")[0], 1
			if strings.HasSuffix(key, "-100") {
				spread = 100
			}
			path := filepath.Join(folder, "job.yaml")
			err := writeClickJob(path, c.clickJob(log, format, spread))
			if lack, ok := errors.AsType[lacking](err); ok {
				if why := reason(lack); why == "" || strings.Contains(why, folder) {
					t.Errorf("%s: what is lacking is %q", c.Name, why)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			cfg, err := job.Load(path, nil, nil)
			if err != nil || string(cfg.Model.Kind) != c.click.kind || cfg.Input.Batch != c.batch || string(cfg.Optimizer.Name) != c.optimizer {
				t.Errorf("%s, %s: job is %+v, error %v", c.Name, file, cfg, err)
			}
			if format == "libsvm" && cfg.Model.Features != c.click.ids*spread {
				t.Errorf("%s: %d features, want %d", c.Name, cfg.Model.Features, c.click.ids*spread)
			}
		}
		log.remove()
		if len(log.texts) == 0 {
			t.Errorf("%s: no text", c.Name)
		}
	}
}

// TestClickSpec verifies that the drivers of a click log get its files and sizes, and
// that the numbers in the files are those of the log.
func TestClickSpec(t *testing.T) {
	var fm Case
	for _, c := range clickCases() {
		if c.Name == "fm" {
			fm = small(c)
		}
	}
	folder := t.TempDir()
	log, err := fm.click.draw(t.Context(), filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	path, err := fm.writeSpec(folder, "case", "hand", 2, 1, records{log: log})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Model, Way, IDs         string
		Labels                  string `json:"click_labels"`
		Features, Fields, Batch int
		Hidden                  []int
	}
	if err := json.Unmarshal(text, &spec); err != nil || spec.Model != "fm" || spec.Features != 5000 || spec.Fields != clickFields || spec.Hidden == nil {
		t.Errorf("spec is %s, error %v", text, err)
	}
	ids, err := os.ReadFile(spec.IDs)
	labels, err2 := os.ReadFile(spec.Labels)
	if err := errors.Join(err, err2); err != nil || len(ids) != 60*clickFields*4 || len(labels) != 60 {
		t.Fatalf("%d bytes of ids, %d labels, error %v", len(ids), len(labels), err)
	}
	row, label, _ := fm.click.log(1).Draw(synth.Train).AppendRow(nil, 59)
	last := ids[len(ids)-4:]
	if got := uint32(last[0]) | uint32(last[1])<<8 | uint32(last[2])<<16; got != row[clickFields-1] || labels[59] != label {
		t.Errorf("the last id is %d, want %d", got, row[clickFields-1])
	}
}

// TestReaders verifies that each format of bench input is read to its last record, or is
// reported as lacking.
func TestReaders(t *testing.T) {
	for _, c := range inputCases() {
		c = small(c)
		log, err := c.click.draw(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		p := &parsing{}
		_, err = p.open(t.Context(), work{Case: c, records: records{log: log}})
		if _, ok := errors.AsType[lacking](err); ok {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if n, err := p.read(t.Context()); n < c.click.rows || n >= c.click.rows+c.batch || err != nil {
			t.Errorf("%s: %d records, error %v; want %d", c.Name, n, err, c.click.rows)
		}
		if n, err := (&parsing{open1: p.open1, batch: p.batch, split: true}).read(t.Context()); n != c.click.rows*9/10 || err != nil {
			t.Errorf("%s: %d training records of a split, error %v; want nine tenths of %d", c.Name, n, err, c.click.rows)
		}
		sizes := log.rowBytes(c)
		if sizes[reader] < 80 || len(sizes) != len(c.who) {
			t.Errorf("%s: bytes of a record are %v", c.Name, sizes)
		}
	}
}

// TestPass verifies the command line of a pass, its rate, and the loss that counts.
func TestPass(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	script := "#!/bin/sh\n" + `case "$*" in *broken*) echo no such key >&2; exit 64;; esac
echo '{"event":"step","loss":9}'
echo '{"event":"done","loss":0.5}'
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := small(clickCases()[0])
	log, err := c.click.draw(t.Context(), filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &pass{program: program, ranks: 2, format: "libsvm"}
	if _, err := p.open(t.Context(), work{Case: c, folder: folder, records: records{log: log}}); err != nil {
		t.Fatal(err)
	}
	if argv := strings.Join(p.argv, " "); !strings.HasPrefix(argv, "run -np 2 --json "+folder) {
		t.Errorf("arguments are %s", argv)
	}
	if got, err := p.turn(t.Context(), 0); err != nil || got.loss != 0.5 || !(got.rate > 0) || math.IsInf(got.rate, 0) {
		t.Errorf("turn is %+v, error %v", got, err)
	}
	p.argv = []string{"broken"}
	if _, err := p.turn(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "no such key") {
		t.Errorf("error is %v, want what the program said", err)
	}
	if _, err := passLoss([]byte(`{"event":"step"}`)); err == nil {
		t.Error("no error without the event done")
	}
}

// TestMemory verifies which memory of a process counts, and which processes belong to a
// run.
func TestMemory(t *testing.T) {
	text := "Name:\tx\nPPid:\t7\nVmRSS:\t  9 kB\nRssAnon:\t  2 kB\nRssFile:\t  3 kB\nRssShmem:\t  1 kB\n"
	if s := readStatus([]byte(text)); s.parent != 7 || s.resident != 3<<10 {
		t.Errorf("status is %+v, want parent 7 and 3 KiB", s)
	}
	all := map[int]status{1: {0, 100}, 7: {1, 5}, 8: {7, 20}, 9: {8, 30}, 10: {1, 90}}
	got := family(all, 7)
	slices.Sort(got)
	if !slices.Equal(got, []int{7, 8, 9}) {
		t.Errorf("processes are %v, want 7, its child and the child's", got)
	}
}

// TestLacking verifies the rows and the bar of a case with a key that ringtrain lacks.
func TestLacking(t *testing.T) {
	c := Case{Name: "test", who: []string{twoRanks, vwOne}, bars: []bar{{twoRanks, []string{vwOne}, 1}}}
	f, _, said := compared(t, c, 1, map[string]*fake{
		twoRanks: {opened: lacking{errors.New("/tmp/x/test.yaml:5:3: no key \"cache\"")}}, vwOne: {rates: []float64{1}, loss: 1},
	})
	if err := failure([]*figures{f}); err != nil {
		t.Errorf("error is %v, want none", err)
	}
	for _, want := range []string{`lacking: 5:3: no key "cache"`, "test       ringtrain, 2 ranks   lacking"} {
		if !strings.Contains(said, want) {
			t.Errorf("it lacks %q:\n%s", want, said)
		}
	}
}

// TestClickDrivers verifies that each library of a click case has its driver.
func TestClickDrivers(t *testing.T) {
	for _, c := range slices.Concat(clickCases(), inputCases()) {
		for _, name := range c.who {
			l, ok := newContender(name, "").(*library)
			if !ok {
				continue
			}
			if _, err := drivers.ReadFile("drivers/" + l.of.driver); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
