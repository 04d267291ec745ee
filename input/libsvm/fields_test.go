package libsvm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestBags verifies that each field is a bag, with fields in any order, repeated and absent, and that
// the pairs of a field keep their order.
func TestBags(t *testing.T) {
	const content = "1 0:3:0.5 2:7:2\n" + // field 1 is absent
		"0 2:9:1 0:4:1 2:8:3 1:5:1 0:1:2 # 1:1:1\n" +
		"1\n" +
		"0 1:6:1 1:2:4\n"
	d, err := parse(t, content, Config{Fields: true, Bags: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var b input.Batch
	for i := range d.Facts().Records {
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
	}
	x := &b.X.Bags
	if want := []int32{0, 1, 1, 2, 4, 5, 7, 7, 7, 7, 7, 9, 9}; x.Fields != 3 || !slices.Equal(x.Start, want) {
		t.Errorf("%d fields, bags %v, want %v", x.Fields, x.Start, want)
	}
	if want := []uint32{3, 7, 4, 1, 5, 9, 8, 6, 2}; !slices.Equal(x.Slot, want) {
		t.Errorf("ids %v, want %v", x.Slot, want)
	}
	if want := []float32{0.5, 2, 1, 2, 1, 1, 3, 1, 4}; !slices.Equal(x.Weights, want) {
		t.Errorf("weights %v, want %v", x.Weights, want)
	}
	if d.Facts().Features != 10 {
		t.Errorf("%d features, want 10", d.Facts().Features)
	}
	read := func() {
		b.Reset()
		for i := range d.Facts().Records {
			d.Append(&b, i)
		}
	}
	if got := testing.AllocsPerRun(50, read); got > 0 {
		t.Errorf("%g allocations", got)
	}
}

// TestBagsErrors verifies the error of a field that the model does not have.
func TestBagsErrors(t *testing.T) {
	for _, line := range []string{"1 3:1:1", "1 0:1:1 999999999:1:1"} {
		_, err := parse(t, "1 0:1:1\n"+line+"\n", Config{Fields: true, Bags: 3, Features: 5})
		want := fmt.Sprintf("record 1 at byte 8: field is %s, want one in [0, 3), as model.fields says", line[strings.LastIndexByte(line, ' ')+1:len(line)-4])
		if err == nil || !strings.HasSuffix(err.Error(), want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("%q: error %v, want %s", line, err, want)
		}
	}
}
