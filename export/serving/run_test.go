package serving

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/ring/exitcode"
)

// doubler is a graph of y = 2x. It notes the records of each run, and waits for gate if there is one. A
// record of -1 is an error for the whole run, one of -2 a fault, and one of -3 damage of the model.
type doubler struct {
	gate chan struct{}
	flat bool // its answer is the sum of all records

	mu   sync.Mutex
	runs []int
}

func (d *doubler) Run(inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
	x := inputs[0]
	d.mu.Lock()
	d.runs = append(d.runs, x.Shape[0])
	d.mu.Unlock()
	if d.gate != nil {
		<-d.gate
	}
	if len(x.Shape) > 2 {
		return nil, fmt.Errorf("x has shape %v, want a matrix", x.Shape)
	}
	y := &interpreter.Tensor{Type: x.Type, Shape: slices.Clone(x.Shape)}
	var sum float32
	for _, v := range x.Float32 {
		switch v {
		case -1:
			return nil, errors.New("-1 is out of range")
		case -2:
			panic("a fault")
		case -3:
			return nil, exitcode.With(exitcode.BadData, errors.New("the files were changed"))
		}
		y.Float32 = append(y.Float32, 2*v)
		sum += v
	}
	if d.flat {
		y = &interpreter.Tensor{Type: x.Type, Shape: []int{}, Float32: []float32{sum}}
	}
	return []*interpreter.Tensor{y}, nil
}

// version returns a version with one signature, which takes x and returns y, records of one number.
func (d *doubler) version(c *Cores) *Version {
	port := func(key string) []interpreter.Port {
		return []interpreter.Port{{Key: key, Type: tfpb.DataType_DT_FLOAT, Shape: []int{-1, 1}}}
	}
	s := interpreter.Signature{Name: "serving_default", Method: "tensorflow/serving/predict", Inputs: port("x"), Outputs: port("y")}
	l := newLane(d, s, NewMetrics(c).of("double", 1, s))
	v := &Version{Name: "double", Number: 1, Model: &interpreter.Model{Signatures: []interpreter.Signature{s}},
		cores: c, lanes: map[string]*lane{s.Name: l}}
	v.users.Store(1)
	return v
}

func numbers(values ...float32) []*interpreter.Tensor {
	return []*interpreter.Tensor{{Type: tfpb.DataType_DT_FLOAT, Shape: []int{len(values), 1}, Float32: values}}
}

// send runs a request in a goroutine and returns where its answer will be.
func send(ctx context.Context, v *Version, values ...float32) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		all, err := v.Run(ctx, "serving_default", nil, numbers(values...))
		a := answer{err: err}
		if err == nil {
			a.values = all[0].Float32
		}
		done <- a
	}()
	synctest.Wait()
	return done
}

type answer struct {
	values []float32
	err    error
}

// TestWaitingRequestsGoTogether verifies that requests which wait for a core run as one batch, up to
// the limit of records and in the order of arrival, and that each gets its own records.
func TestWaitingRequestsGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubler{gate: make(chan struct{})}
		v := d.version(NewCores(Limits{Cores: 1, Batch: 4, Queue: 10, Tensor: 1 << 20}))
		var asked []<-chan answer
		for _, values := range [][]float32{{1}, {2}, {3, 4}, {5, 6}, {7}, {}} {
			asked = append(asked, send(t.Context(), v, values...))
		}
		close(d.gate)
		for i, want := range [][]float32{{2}, {4}, {6, 8}, {10, 12}, {14}, {}} {
			if a := <-asked[i]; a.err != nil || !slices.Equal(a.values, want) {
				t.Errorf("request %d: %v, %v, want %v", i, a.values, a.err, want)
			}
		}
		// The first one found the core idle. 2, 3, 4 and 7 fit into a batch of four. The last has no record.
		if want := []int{1, 4, 2, 0}; !slices.Equal(d.runs, want) {
			t.Errorf("records of the runs: %v, want %v", d.runs, want)
		}
	})
}

// TestMaxBatchOne verifies that with a limit of one record every request runs alone and whole.
func TestMaxBatchOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubler{gate: make(chan struct{})}
		v := d.version(NewCores(Limits{Cores: 1, Batch: 1, Queue: 10, Tensor: 1 << 20}))
		first, second, third := send(t.Context(), v, 1, 2), send(t.Context(), v, 3), send(t.Context(), v, 4)
		close(d.gate)
		for _, a := range []answer{<-first, <-second, <-third} {
			if a.err != nil {
				t.Error(a.err)
			}
		}
		if want := []int{2, 1, 1}; !slices.Equal(d.runs, want) {
			t.Errorf("records of the runs: %v, want %v", d.runs, want)
		}
	})
}

// TestBadRequestAmongOthers verifies that a request which the graph refuses, or which ends in a fault or in
// damage of the model, takes no other request with it, and that the core is free afterwards.
func TestBadRequestAmongOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubler{gate: make(chan struct{})}
		c := NewCores(Limits{Cores: 1, Batch: 100, Queue: 10, Tensor: 1 << 20})
		v := d.version(c)
		send(t.Context(), v, 0)
		good, bad, fault, damage := send(t.Context(), v, 1), send(t.Context(), v, -1), send(t.Context(), v, -2), send(t.Context(), v, -3)
		close(d.gate)
		if a := <-good; a.err != nil || !slices.Equal(a.values, []float32{2}) {
			t.Errorf("the good request: %v, %v", a.values, a.err)
		}
		if a := <-bad; status.Code(a.err) != codes.InvalidArgument || !strings.Contains(a.err.Error(), "-1 is out of range") {
			t.Errorf("the bad request: %v, want INVALID_ARGUMENT", a.err)
		}
		if a := <-fault; status.Code(a.err) != codes.Internal {
			t.Errorf("the request with a fault: %v, want INTERNAL", a.err)
		}
		if a := <-damage; status.Code(a.err) != codes.DataLoss {
			t.Errorf("the request to a damaged model: %v, want DATA_LOSS", a.err)
		}
		synctest.Wait()
		if c.idle != 1 || c.Waiting() != 0 {
			t.Errorf("%d cores are idle and %d requests wait, want 1 and 0", c.idle, c.Waiting())
		}
	})
}

// TestQueueAndDeadline verifies that a full queue refuses with UNAVAILABLE, that a request leaves the
// queue at its deadline or when its client goes away, and that one which a core has taken ends by its
// deadline too.
func TestQueueAndDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubler{gate: make(chan struct{})}
		c := NewCores(Limits{Cores: 1, Batch: 1, Queue: 2, Tensor: 1 << 20})
		v := d.version(c)
		deadline, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		gone, leave := context.WithCancel(t.Context())
		running := send(deadline, v, 1)
		late, left := send(deadline, v, 2), send(gone, v, 3)
		if a := <-send(t.Context(), v, 4); status.Code(a.err) != codes.Unavailable || !strings.Contains(a.err.Error(), "2 requests wait") {
			t.Errorf("a request to a full queue: %v, want UNAVAILABLE", a.err)
		}
		if a := <-send(context.WithValue(deadline, warming{}, true), v, 5); status.Code(a.err) != codes.DeadlineExceeded {
			t.Errorf("a request of a warm-up: %v, want that it waits", a.err)
		}
		leave()
		if a := <-left; status.Code(a.err) != codes.Canceled {
			t.Errorf("a request whose client has gone: %v, want CANCELLED", a.err)
		}
		if a := <-late; status.Code(a.err) != codes.DeadlineExceeded {
			t.Errorf("a request that waits too long: %v, want DEADLINE_EXCEEDED", a.err)
		}
		close(d.gate)
		if a := <-running; status.Code(a.err) != codes.DeadlineExceeded {
			t.Errorf("a request that runs too long: %v, want DEADLINE_EXCEEDED", a.err)
		}
		if len(d.runs) != 1 {
			t.Errorf("%d runs, want 1: nobody waits for the others", len(d.runs))
		}
	})
}

// TestLargeRequestIsCut verifies that a request larger than a batch runs in parts of the limit, and
// that its answer has all records in order.
func TestLargeRequestIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubler{}
		v := d.version(NewCores(Limits{Cores: 2, Batch: 3, Queue: 10, Tensor: 1 << 20}))
		a := <-send(t.Context(), v, 1, 2, 3, 4, 5, 6, 7, 8)
		if want := []float32{2, 4, 6, 8, 10, 12, 14, 16}; a.err != nil || !slices.Equal(a.values, want) {
			t.Errorf("%v, %v, want %v", a.values, a.err, want)
		}
		slices.Sort(d.runs)
		if want := []int{2, 3, 3}; !slices.Equal(d.runs, want) {
			t.Errorf("records of the runs, sorted: %v, want %v", d.runs, want)
		}
	})
}

// TestAnswerWithoutRecords verifies that a graph whose answer has no row for each record, against its
// signature, gives each request the answer that it gets alone.
func TestAnswerWithoutRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubler{gate: make(chan struct{}), flat: true}
		v := d.version(NewCores(Limits{Cores: 1, Batch: 3, Queue: 10, Tensor: 1 << 20}))
		send(t.Context(), v, 0)
		first, second := send(t.Context(), v, 1, 2), send(t.Context(), v, 3)
		close(d.gate)
		for _, a := range []answer{<-first, <-second} {
			if !slices.Equal(a.values, []float32{3}) {
				t.Errorf("answer %v, %v, want 3", a.values, a.err)
			}
		}
		v = (&doubler{flat: true}).version(NewCores(Limits{Cores: 1, Batch: 3, Queue: 10, Tensor: 1 << 20}))
		if a := <-send(t.Context(), v, 1, 2, 3, 4); !slices.Equal(a.values, []float32{10}) {
			t.Errorf("a request larger than a batch: %v, want 10", a)
		}
	})
}

// TestByRecord verifies which signatures allow that requests go together.
func TestByRecord(t *testing.T) {
	for _, tt := range []struct {
		in, out []int
		want    bool
	}{
		{[]int{-1}, []int{-1}, true},
		{[]int{-1, -1}, []int{-1, 3}, true},
		{[]int{-1}, []int{-1, -1}, false}, // padded to the longest record
		{[]int{1}, []int{-1}, false},
		{[]int{-1}, []int{}, false},
		{[]int{}, []int{-1}, false},
		{nil, []int{-1}, false}, // unknown rank
		{[]int{-1}, nil, false},
	} {
		s := interpreter.Signature{Inputs: []interpreter.Port{{Shape: tt.in}}, Outputs: []interpreter.Port{{Shape: tt.out}}}
		if got := byRecord(s); got != tt.want {
			t.Errorf("byRecord of %v to %v is %v", tt.in, tt.out, got)
		}
	}
	s := interpreter.Signature{Inputs: []interpreter.Port{{}}, Outputs: []interpreter.Port{{Shape: []int{-1}}}, Features: []interpreter.Feature{{}}}
	if newLane(nil, s, meters{}).whole.Load() {
		t.Error("tf.Examples of unknown rank do not go together")
	}
}

// TestMisfitsRunAlone verifies that requests which do not look as the signature says are for the graph to
// decide, and do not go together with others.
func TestMisfitsRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &doubler{gate: make(chan struct{})}
		v := d.version(NewCores(Limits{Cores: 1, Batch: 100, Queue: 10}))
		send(t.Context(), v, 0)
		send(t.Context(), v, 1)
		var misfits []*interpreter.Tensor
		for _, change := range []func(*interpreter.Tensor){
			func(t *interpreter.Tensor) { t.Type = tfpb.DataType_DT_INT64 },
			func(t *interpreter.Tensor) { t.Shape = []int{1} },
			func(t *interpreter.Tensor) { t.Shape = []int{1, 1, 1} },
		} {
			misfits = append(misfits, numbers(3)[0])
			change(misfits[len(misfits)-1])
		}
		for _, m := range misfits {
			go v.Run(t.Context(), "serving_default", nil, []*interpreter.Tensor{m})
		}
		go v.Run(t.Context(), "serving_default", nil, []*interpreter.Tensor{numbers(3)[0], numbers(4)[0]})
		synctest.Wait()
		close(d.gate)
		synctest.Wait()
		if want := []int{1, 1, 1, 1, 1, 1}; !slices.Equal(d.runs, want) {
			t.Errorf("records of the runs: %v, want each alone", d.runs)
		}
	})
}

// TestRunChecks verifies the codes and texts of requests that do not fit the signature, and that
// outputs are chosen by their keys.
func TestRunChecks(t *testing.T) {
	v := (&doubler{}).version(NewCores(Limits{Cores: 1, Batch: 1, Queue: 1, Tensor: 1 << 20}))
	for _, tt := range []struct {
		signature string
		outputs   []string
		inputs    []*interpreter.Tensor
		code      codes.Code
		text      string
	}{
		{"other", nil, numbers(1), codes.FailedPrecondition, `signature is "other", want one of serving_default`},
		{"serving_default", []string{"z"}, numbers(1), codes.InvalidArgument, `output is "z", want one of y`},
		{"serving_default", nil, numbers(-1), codes.InvalidArgument, "-1 is out of range"},
	} {
		_, err := v.Run(t.Context(), tt.signature, tt.outputs, tt.inputs)
		if status.Code(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%v, want %v with %q", err, tt.code, tt.text)
		}
	}
	got, err := v.Run(t.Context(), "serving_default", []string{"y", "y"}, numbers(3))
	if err != nil || len(got) != 2 || got[1].Float32[0] != 6 {
		t.Errorf("y twice: %v, %v", got, err)
	}
}

// TestAnswerOfAnotherLength verifies that a batch whose answer has fewer values than its shape says
// gives no request a part of another's, and leaves the core to others.
func TestAnswerOfAnotherLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		short := graphFunc(func(in []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
			<-gate
			n := in[0].Shape[0]
			return []*interpreter.Tensor{{Type: in[0].Type, Shape: []int{n, 1}, Float32: make([]float32, 1)}}, nil
		})
		c := NewCores(Limits{Cores: 1, Batch: 4, Queue: 10})
		v := (&doubler{}).version(c)
		v.lanes[ask.DefaultSignature] = newLane(short, v.Model.Signatures[0], NewMetrics(c).of("double", 1, v.Model.Signatures[0]))
		asked := []<-chan answer{send(t.Context(), v, 1), send(t.Context(), v, 2), send(t.Context(), v, 3)}
		close(gate)
		for i, a := range asked {
			if got := <-a; got.err != nil || len(got.values) != 1 {
				t.Errorf("request %d: %v, %v", i, got.values, got.err)
			}
		}
		synctest.Wait()
		if c.idle != 1 {
			t.Error("the core is lost")
		}
	})
}
