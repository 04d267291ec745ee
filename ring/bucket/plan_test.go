package bucket

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring/exitcode"
)

// TestPlan verifies the place of each variable and the order of the buckets: biases are in an
// exact bucket, and the last layers leave first.
func TestPlan(t *testing.T) {
	const kernel = 2048 // elements, 8 KiB: a lossy bucket
	exact := func(n int) Variable { return Variable{Len: n, Exact: true} }
	tests := []struct {
		name        string
		vars        []Variable
		bucketBytes int
		want        Plan
	}{
		{"one small variable", []Variable{{Len: 3}}, 1 << 20,
			Plan{[]Bucket{{true, 0, 3, []Span{{0, 0, 3}}, nil}}, 16}},
		{"exact although large", []Variable{exact(kernel)}, 1 << 20,
			Plan{[]Bucket{{true, 0, kernel, []Span{{0, 0, kernel}}, nil}}, kernel}},
		{"just below and at 4 KiB", []Variable{{Len: 1023}, {Len: 1024}}, 1 << 20,
			Plan{[]Bucket{
				{false, 0, 1024, []Span{{1, 0, 1024}}, nil},
				{true, 1024, 1023, []Span{{0, 0, 1023}}, nil},
			}, 2048}},
		{"softmax: the bias is ready first", []Variable{{Len: kernel}, exact(10)}, 1 << 20,
			Plan{[]Bucket{
				{true, 0, 10, []Span{{1, 0, 10}}, nil},
				{false, 16, kernel, []Span{{0, 0, kernel}}, nil},
			}, 16 + kernel}},
		{"three layers, buckets of one kernel", []Variable{{Len: kernel}, exact(5), {Len: kernel}, exact(6), {Len: kernel}, exact(7)}, 4 * kernel,
			Plan{[]Bucket{
				{false, 0, kernel, []Span{{4, 0, kernel}}, nil},
				{false, kernel, kernel, []Span{{2, 0, kernel}}, nil},
				{true, 2 * kernel, 18, []Span{{5, 0, 7}, {3, 7, 6}, {1, 13, 5}}, nil},
				{false, 2*kernel + 32, kernel, []Span{{0, 0, kernel}}, nil},
			}, 3*kernel + 32}},
		{"a big variable makes the bucket grow", []Variable{{Len: 10 * kernel}, {Len: kernel}}, 2 * 4 * kernel,
			Plan{[]Bucket{{false, 0, 11 * kernel, []Span{{1, 0, kernel}, {0, kernel, 10 * kernel}}, nil}}, 11 * kernel}},
		{"an MLP of 4 MiB: the last layers leave while backward is at the first", []Variable{{Len: 784 * 1024}, {Len: 1024 * 256}, {Len: 256 * 10}}, 4 << 20,
			Plan{[]Bucket{
				{false, 0, 2560 + 1024*256, []Span{{2, 0, 2560}, {1, 2560, 1024 * 256}}, nil},
				{false, 2560 + 1024*256, 784 * 1024, []Span{{0, 0, 784 * 1024}}, nil},
			}, 2560 + 1024*256 + 784*1024}},
		{"only the first bucket is small", []Variable{{Len: 1 << 18}, {Len: 1 << 18}, {Len: 1 << 18}}, 2 << 20,
			Plan{[]Bucket{
				{false, 0, 1 << 18, []Span{{2, 0, 1 << 18}}, nil},
				{false, 1 << 18, 1 << 19, []Span{{1, 0, 1 << 18}, {0, 1 << 18, 1 << 18}}, nil},
			}, 3 << 18}},
		{"tables leave last with what is exact", []Variable{table(9, 2), {Len: kernel}, table(9, 1), exact(5)}, 1 << 20,
			Plan{[]Bucket{
				{false, 0, kernel, []Span{{1, 0, kernel}}, nil},
				{true, kernel, 5, []Span{{3, 0, 5}}, []int{2, 0}},
			}, kernel + 16}},
		{"tables beside a full exact bucket", []Variable{table(9, 2), exact(kernel)}, 4 * kernel,
			Plan{[]Bucket{
				{true, 0, kernel, []Span{{1, 0, kernel}}, nil},
				{true, kernel, 0, nil, []int{0}},
			}, kernel}},
		{"a table alone", []Variable{table(9, 2)}, 1 << 20, Plan{[]Bucket{{true, 0, 0, nil, []int{0}}}, 0}},
		{"exact buckets fill up too", []Variable{exact(1000), exact(1000), exact(1000)}, 8000,
			Plan{[]Bucket{
				{true, 0, 2000, []Span{{2, 0, 1000}, {1, 1000, 1000}}, nil},
				{true, 2000, 1000, []Span{{0, 0, 1000}}, nil},
			}, 3008}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NewPlan(tt.vars, tt.bucketBytes)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("plan differs (-want +got):\n%s", d)
			}
		})
	}
}

// table is a variable by rows.
func table(rows, cols int) Variable {
	return Variable{Len: rows * cols, Rows: rows, Cols: cols, ByRows: true}
}

// TestPlanCoversAll verifies for random plans that each variable lies once, whole, apart from
// all others, in a bucket of its kind, and that buckets leave in the order in which backward
// completes them.
func TestPlanCoversAll(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		vars := make([]Variable, 1+r.IntN(30))
		for i := range vars {
			vars[i] = Variable{Len: 1 + r.IntN(4000), Exact: r.IntN(3) == 0}
			if r.IntN(4) == 0 {
				vars[i] = table(7, 1+r.IntN(9))
			}
		}
		p, err := NewPlan(vars, 1+r.IntN(1<<15))
		if err != nil {
			t.Fatal(err)
		}
		seen, end, before := make([]int, len(vars)), 0, len(vars)
		for k, b := range p.Buckets {
			if b.Offset%cacheLine != 0 || b.Offset < end || b.Offset-end >= cacheLine {
				t.Fatalf("seed=%d: bucket at %d after one that ends at %d", seed, b.Offset, end)
			}
			length := 0
			for _, i := range b.Tables {
				seen[i]++
				if !vars[i].ByRows || !b.Exact {
					t.Fatalf("seed=%d: variable %v is among the tables of a bucket with exact=%v", seed, vars[i], b.Exact)
				}
			}
			for _, s := range b.Spans {
				v := vars[s.Variable]
				if s.Offset != length || s.Len != v.Len {
					t.Fatalf("seed=%d: span %v of variable %v at %d", seed, s, v, length)
				}
				if first := vars[b.Spans[0].Variable]; v.kind() != first.kind() {
					t.Fatalf("seed=%d: variables %v and %v share a bucket", seed, v, first)
				}
				if exact := v.Exact || 4*v.Len < ExactBelowBytes; exact != b.Exact {
					t.Fatalf("seed=%d: variable %v in bucket with exact=%v", seed, v, b.Exact)
				}
				seen[s.Variable]++
				length += s.Len
			}
			if b.Len != length {
				t.Fatalf("seed=%d: bucket has %d elements, want %d", seed, b.Len, length)
			}
			end = b.Offset + b.Len
			if len(b.Tables) > 0 {
				if k != len(p.Buckets)-1 {
					t.Fatalf("seed=%d: bucket %d of %d has tables", seed, k, len(p.Buckets))
				}
				continue
			}
			if b.last() >= before {
				t.Fatalf("seed=%d: the bucket that ends with variable %d leaves after that of %d", seed, b.last(), before)
			}
			before = b.last()
		}
		for i, n := range seen {
			if n != 1 {
				t.Fatalf("seed=%d: variable %d lies in %d places", seed, i, n)
			}
		}
		if p.Len < end || p.Len-end >= cacheLine {
			t.Fatalf("seed=%d: arena has %d elements, the last bucket ends at %d", seed, p.Len, end)
		}
	}
}

// TestPlanOfNothing verifies that a model without variables is refused.
func TestPlanOfNothing(t *testing.T) {
	_, err := NewPlan(nil, 1)
	if exitcode.Of(err) != exitcode.Usage || err.Error() != "the model has no variables, want 1 or more" {
		t.Errorf("error is %v with code %d, want code %d", err, exitcode.Of(err), exitcode.Usage)
	}
}
