package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ringtrain/input"
	"ringtrain/input/idx"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// gatedDataset holds records that are in memory, or turn out to be broken, once gate is closed.
type gatedDataset struct {
	input.Dataset
	gate chan struct{}
	err  error
}

func (g gatedDataset) Facts() input.Facts {
	f := g.Dataset.Facts()
	f.Load = func() error {
		<-g.gate
		return g.err
	}
	return f
}

// TestValidationIsReadBesideTraining verifies that no step waits for validation records that no
// evaluation needs yet, and that a fault in them is reported as soon as it is found, while training
// continues.
func TestValidationIsReadBesideTraining(t *testing.T) {
	for _, p := range []int{1, 3} {
		broken := exitcode.With(exitcode.BadData, errors.New("file ends early"))
		data := digitsData()
		told, stop := context.WithCancelCause(t.Context())
		members := trainOn(t, p, loadText(t, digitsText, "train.steps=1000000"), data, func(m *member) {
			trace := m.opts.Trace
			m.opts.Trace = func(e report.Event) {
				trace(e)
				if e.Kind() == "warning" {
					stop(exitcode.With(exitcode.Terminated, errors.New("told")))
				}
			}
			m.team.Stop = told
			gate := make(chan struct{})
			eval := gatedDataset{data.Eval, gate, nil}
			if m.rank == p-1 {
				eval.err = broken
			}
			m.data.Eval = eval
			open := sync.OnceFunc(func() { close(gate) })
			m.end = func(step int64) error {
				if step == 5 {
					open()
				}
				return nil
			}
		})
		for _, m := range members {
			if m.err != nil || m.result.Stopped != exitcode.Terminated {
				t.Errorf("world=%d: rank %d ended with %v, %+v, want to be stopped", p, m.rank, m.err, m.result)
			}
			if m.result.Step < 5 {
				t.Errorf("world=%d: rank %d ended at step %d, want to have trained meanwhile", p, m.rank, m.result.Step)
			}
		}
		w := eventsOf[report.Warning](members[0])
		if len(w) != 1 || w[0].ExitCode != exitcode.BadData || w[0].Rank != p-1 || w[0].Cause != "input.eval: file ends early" {
			t.Errorf("world=%d: warnings are %+v, want one of rank %d, code %d", p, w, p-1, exitcode.BadData)
		}
	}
}

// writeDigits writes n images of 2×2 pixels and their labels, and returns a job
// that trains on them and is evaluated on them.
func writeDigits(t *testing.T, dir string, n int) *job.Config {
	t.Helper()
	pixels, labels := make([]byte, 4*n), make([]byte, n)
	for i := range labels {
		labels[i], pixels[4*i] = byte(i%10), byte(i%10*25)
	}
	for _, err := range []error{
		idx.WriteImages(filepath.Join(dir, "train"), false, pixels, 2, 2), idx.WriteLabels(filepath.Join(dir, "train-labels"), false, labels),
		idx.WriteImages(filepath.Join(dir, "eval.gz"), false, pixels, 2, 2), idx.WriteLabels(filepath.Join(dir, "eval-labels"), false, labels),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := loadText(t, digitsText)
	cfg.Input.Synthetic = false
	cfg.Input.Train = job.Files{Format: "idx", Images: "train", Labels: "train-labels"}
	cfg.Input.Eval = job.Files{Format: "idx", Images: "eval.gz", Labels: "eval-labels"}
	return cfg
}

// TestBrokenValidationFiles verifies that faults which need no complete read of the files are found
// before the start, that the others are found later, and that both name the same file in the same
// way.
func TestBrokenValidationFiles(t *testing.T) {
	tests := []struct {
		name  string
		file  string
		spoil func(b []byte) []byte
		early bool
		words string
	}{
		{"right", "eval.gz", func(b []byte) []byte { return b }, false, ""},
		{"cut off", "eval.gz", func(b []byte) []byte { return b[:len(b)-20] }, false, "payload bytes, want 400000 (100000×2×2 of uint8)"},
		{"sum", "eval.gz", func(b []byte) []byte { b[len(b)-5] ^= 1; return b }, false, "gzip: invalid checksum"},
		{"no images", "eval.gz", func([]byte) []byte { return []byte("text") }, true, "magic is 74657874"},
		{"other images", "eval.gz", func([]byte) []byte { return []byte("\x00\x00\x08\x03\x00\x01\x86\xa0\x00\x00\x00\x03\x00\x00\x00\x02") }, true, "images have 6 pixels, want 4"},
		{"label", "eval-labels", func(b []byte) []byte { b[8+7] = 10; return b }, true, "record 7: label is 10"},
		{"labels", "eval-labels", func(b []byte) []byte { return b[:1000] }, true, "992 payload bytes, want 100000"},
	}
	for _, tt := range tests {
		t.Run("file="+strings.ReplaceAll(tt.name, " ", "-"), func(t *testing.T) {
			dir := t.TempDir()
			cfg := writeDigits(t, dir, 100_000)
			name := filepath.Join(dir, tt.file)
			b, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, tt.spoil(bytes.Clone(b)), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			data, err := records.NewOpener(cfg, records.Options{Roots: []string{dir}}).Open(t.Context())
			if tt.early {
				wantBadData(t, err, tt.words)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			for _, m := range trainOn(t, 2, cfg, data, nil) {
				if tt.words != "" {
					c := m.cause()
					wantBadData(t, c.WithCode(), tt.words)
				} else if m.err != nil || len(eventsOf[report.Metrics](m)) == 0 && m.rank == 0 {
					t.Errorf("rank %d: error %v, want an evaluation", m.rank, m.err)
				}
			}
		})
	}
}

func wantBadData(t *testing.T, err error, words string) {
	t.Helper()
	if exitcode.Of(err) != exitcode.BadData || !containsAll(err.Error(), "input.eval: ", words) {
		t.Errorf("error %v (%d), want %q (%d)", err, exitcode.Of(err), words, exitcode.BadData)
	}
}

// TestCloseEndsReading verifies that a closed trainer leaves no open file and no goroutine.
func TestCloseEndsReading(t *testing.T) {
	dir := t.TempDir()
	cfg := writeDigits(t, dir, 100_000)
	for _, begun := range []bool{false, true} {
		trainer, err := Prepare(t.Context(), cfg, Options{Roots: []string{dir}, Resume: "auto"})
		if err != nil {
			t.Fatal(err)
		}
		if begun {
			trainer.eval.loader.Start()
		} else if n, ok := openBelow(dir); ok && n == 0 {
			t.Error("no file is open before the validation images are read")
		}
		if err := trainer.Close(); err != nil {
			t.Errorf("begun=%t: %v", begun, err)
		}
		if n, _ := openBelow(dir); n > 0 {
			t.Errorf("begun=%t: %d files are open", begun, n)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g := gatedDataset{Dataset: linearData().Eval, gate: make(chan struct{})}
		trainer := &Trainer{eval: evaluation{loader: records.NewLoader(g)}, data: records.Set{Train: closed{}, Eval: closed{}}}
		trainer.eval.loader.Start()
		over := false
		go func() {
			trainer.Close()
			over = true
		}()
		synctest.Wait()
		if over {
			t.Error("closed while records are being read")
		}
		close(g.gate)
		synctest.Wait()
		if !over {
			t.Error("not closed after that")
		}
	})
}

// closed is a data set without files.
type closed struct{ input.Dataset }

func (closed) Close() error { return nil }

// openBelow counts the open files of this process below a folder. It returns false if the system does
// not list them.
func openBelow(dir string) (n int, ok bool) {
	const own = "/proc/self/fd"
	list, err := os.ReadDir(own)
	if err != nil {
		return 0, false
	}
	for _, e := range list {
		if to, err := os.Readlink(filepath.Join(own, e.Name())); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n, true
}
