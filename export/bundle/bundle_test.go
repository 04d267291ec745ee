package bundle

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// every returns a tensor of each type: a scalar, one with elements and one without.
func every() []Tensor {
	var tensors []Tensor
	for d := DType(0); d < 32; d++ {
		if d.Size() == 0 {
			continue
		}
		for _, shape := range [][]int64{nil, {2, 3}, {0, 3}} {
			n, _ := elements(shape)
			data := make([]byte, int(n)*d.Size())
			for i := range data {
				data[i] = byte(i*37 + int(d))
			}
			tensors = append(tensors, Tensor{Name: fmt.Sprintf("%v%v", d, shape), DType: d, Shape: shape, Data: data})
		}
	}
	return append(tensors,
		String("text", "a\x00b\xff"),
		Tensor{Name: "texts", DType: DTString, Shape: []int64{2, 2}, Strings: []string{"", "x", strings.Repeat("y", 300), "\xff"}},
		Tensor{Name: "none", DType: DTString, Shape: []int64{0}, Strings: []string{}},
	)
}

// write writes tensors into a new folder and returns the prefix.
func write(t testing.TB, tensors []Tensor) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "b")
	n, err := Write(OS, prefix, tensors)
	if err != nil {
		t.Fatal(err)
	}
	index, data := contents(t, prefix)
	if got := int64(len(index) + len(data)); n != got {
		t.Errorf("Write returned %d bytes, the files have %d", n, got)
	}
	return prefix
}

func contents(t testing.TB, prefix string) (index, data []byte) {
	t.Helper()
	index, err := os.ReadFile(indexName(prefix))
	if err != nil {
		t.Fatal(err)
	}
	data, err = os.ReadFile(shardName(prefix, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	return index, data
}

// readAll opens and reads a whole bundle.
func readAll(prefix string) ([]Tensor, error) {
	r, err := Open(prefix)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadAll()
}

// TestGoldenBundle verifies that a bundle of two scalars equals the bytes that
// TensorFlow 1 wrote (FORMAT.md explains them).
func TestGoldenBundle(t *testing.T) {
	value := []float32{math.Float32frombits(0x3f00c623)}
	index, data := contents(t, write(t, []Tensor{Float32("weight", nil, value), Float32("bias", nil, value)}))
	if got, want := hex.EncodeToString(data), "23c6003f23c6003f"; got != want {
		t.Errorf("data is %s, want %s", got, want)
	}
	want := "00000608011a020801" +
		"00040b62696173080112002804359f075de7" +
		"00060d7765696768740801120020042804359f075de7" +
		"0000000001000000" + "00" + "56734538" +
		"0000000001000000" + "00" + "c0f2a1b0" +
		"000102780039" + "0000000001000000" + "00" + "53ee0f5d" +
		"3e084b0e" + strings.Repeat("00", 36) + "57fb808b247547db"
	if got := hex.EncodeToString(index); got != want {
		t.Errorf("index is\n%s, want\n%s", got, want)
	}
}

// TestRoundTrip verifies that tensors of every type are read back as they were written.
func TestRoundTrip(t *testing.T) {
	tensors := every()
	got, err := readAll(write(t, tensors))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Tensor{}
	for _, x := range got {
		byName[x.Name] = x
	}
	for _, want := range tensors {
		x := byName[want.Name]
		if x.DType != want.DType || !cmp.Equal(x.Shape, want.Shape) || !bytes.Equal(x.Data, want.Data) || !cmp.Equal(x.Strings, want.Strings) {
			t.Errorf("tensor %s came back as %v", want.Name, x)
		}
	}
	if len(got) != len(tensors) {
		t.Errorf("%d tensors came back, want %d", len(got), len(tensors))
	}
}

// TestManyBlocks verifies that an index of several blocks is read back.
func TestManyBlocks(t *testing.T) {
	const n = 20000
	tensors := make([]Tensor, 0, n)
	for i := range n {
		tensors = append(tensors, Float32(fmt.Sprintf("layer_%05d/kernel", n-i), []int{1}, []float32{float32(i)}))
	}
	prefix := write(t, tensors)
	if index, _ := contents(t, prefix); len(index) < 2*blockBytes {
		t.Fatalf("the index has %d bytes, want more than two blocks", len(index))
	}
	got, err := readAll(prefix)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got {
		v, err := x.Float32s()
		if err != nil || x.Name != tensors[n-1-i].Name || v[0] != float32(n-1-i) {
			t.Fatalf("tensor %d is %s with %v (%v), want %s", i, x.Name, v, err, tensors[n-1-i].Name)
		}
	}
}

// TestAccessors verifies that a value of another type or shape is an error, not a
// reinterpretation.
func TestAccessors(t *testing.T) {
	f, i, s := Float32("f", []int{2}, []float32{1, -2}), Int64("i", -7), String("s", "hello")
	if v, err := f.Float32s(); err != nil || v[1] != -2 {
		t.Errorf("Float32s = %v, %v", v, err)
	}
	if v, err := i.Int64(); err != nil || v != -7 {
		t.Errorf("Int64 = %v, %v", v, err)
	}
	small := Tensor{Name: "small", DType: DTInt32, Data: []byte{0xfe, 0xff, 0xff, 0xff}}
	if v, err := small.Int64(); err != nil || v != -2 {
		t.Errorf("Int64 of an int32 = %v, %v", v, err)
	}
	if v, err := s.Text(); err != nil || v != "hello" {
		t.Errorf("Text = %q, %v", v, err)
	}
	_, err1 := i.Float32s()
	_, err2 := f.Int64()
	_, err3 := i.Text()
	if err1 == nil || err2 == nil || err3 == nil {
		t.Errorf("another type was accepted: %v, %v, %v", err1, err2, err3)
	}
}

// TestCallersBugs verifies that Write panics on tensors that would make a broken bundle.
func TestCallersBugs(t *testing.T) {
	twice := Int64("x", 1)
	for name, tensors := range map[string][]Tensor{
		"name=":          {Int64("", 1)},
		"name=twice":     {twice, twice},
		"name=zero byte": {Int64("\x00x", 1)},
		"type=none":      {{Name: "x"}},
		"data=short":     {{Name: "x", DType: DTFloat32, Shape: []int64{2}, Data: make([]byte, 4)}},
		"data=odd":       {{Name: "x", DType: DTFloat32, Data: make([]byte, 5)}},
		"shape=negative": {{Name: "x", DType: DTFloat32, Shape: []int64{-1, -1}, Data: make([]byte, 4)}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if fault := fmt.Sprint(recover()); !strings.HasPrefix(fault, "bundle: ") {
					t.Errorf("Write panics with %q, want words that begin with bundle:", fault)
				}
			}()
			Write(OS, filepath.Join(t.TempDir(), "b"), tensors)
		})
	}
}
