package events

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// began returns a Writer in dir for a run whose next step is from.
func began(t *testing.T, dir string, from int64) *Writer {
	t.Helper()
	w, err := Create(dir, from, noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// curve returns the steps of a tag that TensorBoard shows for the files of dir. A START
// removes the steps from its own on.
func curve(t *testing.T, dir, tag string) []int64 {
	t.Helper()
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var steps []int64
	for _, f := range files {
		all, err := readAll(t, f)
		if err != io.EOF {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Start {
				steps = slices.DeleteFunc(steps, func(s int64) bool { return s >= e.Step })
			}
			for _, s := range e.Scalars {
				if s.Tag == tag {
					steps = append(steps, e.Step)
				}
			}
		}
	}
	return steps
}

func loss(v float64) []Scalar { return []Scalar{{"loss", v}} }

// TestWriter verifies the records of a file: version, START, and scalars including NaN
// and infinity.
func TestWriter(t *testing.T) {
	w := began(t, filepath.Join(t.TempDir(), "new", "run"), 1)
	w.Add(1, []Scalar{{"loss", 0.5}, {"rate", math.Inf(1)}}, noon.Add(time.Second))
	w.Add(2, loss(math.NaN()), noon.Add(2*time.Second))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := readAll(t, w.name)
	at := float64(noon.Unix())
	want := fmt.Sprint([]Event{
		{WallTime: at, Version: "brain.Event:2"}, {WallTime: at, Step: 1, Start: true},
		{WallTime: at + 1, Step: 1, Scalars: []Scalar{{"loss", 0.5}, {"rate", math.Inf(1)}}},
		{WallTime: at + 2, Step: 2, Scalars: loss(math.NaN())},
	})
	if got := fmt.Sprint(all); got != want || err != io.EOF {
		t.Errorf("error %v, events\n%s\nwant\n%s", err, got, want)
	}
}

// TestResumed verifies that a resumed run gives one curve with each step once: later
// steps of the earlier process do not count, and the step of the resume is not written
// again.
func TestResumed(t *testing.T) {
	tests := []struct {
		name string
		runs [][]int64 // for each process: the step of the resume, then the steps written
		want []int64
	}{
		{"killed", [][]int64{{0, 10, 20, 30, 40}, {20, 30, 40, 50}}, []int64{10, 20, 30, 40, 50}},
		{"another rhythm", [][]int64{{0, 10, 20, 30}, {15, 25, 35}}, []int64{10, 25, 35}},
		{"at its end", [][]int64{{0, 10, 20}, {20, 20}}, []int64{10, 20}},
		{"before its last step was written", [][]int64{{0, 10}, {20, 20}}, []int64{10, 20}},
		{"three times", [][]int64{{0, 10, 20, 30}, {10, 15}, {15, 15, 30}}, []int64{10, 15, 30}},
		{"anew", [][]int64{{0, 10, 20}, {0, 5}}, []int64{5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, run := range tt.runs {
				w := began(t, dir, run[0]+1)
				for _, step := range run[1:] {
					w.Add(step, loss(float64(step)), noon)
				}
				w.Close()
			}
			if got := curve(t, dir, "loss"); !slices.Equal(got, tt.want) {
				t.Errorf("steps %v, want %v", got, tt.want)
			}
		})
	}
}

// TestNames verifies that the file of a later process sorts later, even if an earlier
// clock was ahead, and that foreign names do no harm.
func TestNames(t *testing.T) {
	const host = "host/a"
	tests := []struct {
		name   string
		before []string
		want   string
	}{
		{"first", nil, "events.out.tfevents.1795435200.host-a.7.0"},
		{"clock ahead", []string{"events.out.tfevents.1795435999.b.1.0"}, "events.out.tfevents.1795436000.host-a.7.0"},
		{"same second", []string{"x/events.out.tfevents.1795435200.b.9.0"}, "events.out.tfevents.1795435201.host-a.7.0"},
		{"foreign", []string{"events.out.tfevents.99999999999.b", "my.tfevents"}, "events.out.tfevents.1795435200.host-a.7.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := name(tt.before, noon, host, 7); got != tt.want {
				t.Errorf("name %s, want %s", got, tt.want)
			}
		})
	}
}

// TestCreateFails verifies that Check and Create return exitcode.CannotCreate for a
// folder that cannot be made.
func TestCreateFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Create(filepath.Join(dir, "run"), 1, noon)
	for _, err := range []error{err, bundle.Probe(bundle.NewDisk(bundle.OS, nil), filepath.Join(dir, "run"))} {
		if exitcode.Of(err) != exitcode.CannotCreate || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v with code %d, want 73 and the folder", err, exitcode.Of(err))
		}
	}
}

// disk is a file whose writes fail after half of the bytes while full is set.
type disk struct {
	mu   sync.Mutex
	data []byte
	full bool
}

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := len(p), error(nil)
	if d.full {
		n, err = len(p)/2, &os.PathError{Op: "write", Path: "disk", Err: errors.New("disk is full")}
	}
	d.data = append(d.data[:off], p[:n]...)
	return n, err
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.data = d.data[:size]
	return nil
}

func (d *disk) Close() error { return nil }

func (d *disk) fill(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// TestFullDisk verifies that a full disk is reported once, that the file always holds
// whole records, and that pending events are written once there is space.
func TestFullDisk(t *testing.T) {
	d := new(disk)
	w := newWriter(d, "file", map[string]int64{})
	w.Add(1, loss(1), noon)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	whole := len(d.data)
	d.fill(true)
	w.Add(2, loss(2), noon)
	if err := w.Flush(); err == nil || !strings.Contains(err.Error(), "write file: disk is full") || exitcode.Of(err) != exitcode.IO {
		t.Errorf("error %v, want the file and disk is full, with the code of a disk", err)
	}
	w.Add(3, loss(3), noon)
	if err := w.Flush(); err != nil {
		t.Errorf("Fault reports the failure twice: %v", err)
	}
	if len(d.data) != whole {
		t.Errorf("file has %d bytes, want %d as before", len(d.data), whole)
	}
	d.fill(false)
	w.Add(4, loss(4), noon)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tfevents"), d.data, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := curve(t, dir, "loss"), []int64{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("steps %v, want %v", got, want)
	}
}

// TestFullDiskForLong verifies that pending events are bounded, and that a Writer whose
// disk stays full can be closed.
func TestFullDiskForLong(t *testing.T) {
	w := newWriter(&disk{full: true}, "file", map[string]int64{})
	tag := strings.Repeat("t", 1000)
	for step := range int64(2 * maxPending / 1000) {
		w.Add(step, []Scalar{{tag, 1}}, noon)
	}
	w.Flush()
	w.mu.Lock()
	n := len(w.pending)
	w.mu.Unlock()
	if n < maxPending || n > maxPending+2000 {
		t.Errorf("%d bytes wait, want %d and no more than an event beyond", n, maxPending)
	}
	w.Close()
	if err := w.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// nowhere is a file that discards its content.
type nowhere struct{}

func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nowhere) Truncate(int64) error                   { return nil }
func (nowhere) Close() error                           { return nil }

// TestAddAllocs verifies that Add allocates nothing.
func TestAddAllocs(t *testing.T) {
	w, step := newWriter(nowhere{}, "file", map[string]int64{}), int64(0)
	defer w.Close()
	scalars := []Scalar{{"loss", 1}, {"rate", 2}}
	if got := testing.AllocsPerRun(5000, func() { step++; w.Add(step, scalars, noon) }); got != 0 {
		t.Errorf("Add allocates %v times, want 0", got)
	}
}

// BenchmarkAdd measures the cost of Add during training.
func BenchmarkAdd(b *testing.B) {
	w, err := Create(b.TempDir(), 1, noon)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var scalars []Scalar
	for i := range 9 {
		scalars = append(scalars, Scalar{fmt.Sprintf("train/value_%d", i), float64(i)})
	}
	for step := range b.N {
		w.Add(int64(step), scalars, noon)
	}
}
