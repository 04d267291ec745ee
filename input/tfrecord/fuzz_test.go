package tfrecord

import (
	"bytes"
	"encoding/hex"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
)

func frames(records ...[]byte) []byte {
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, r := range records {
		w.Write(r)
	}
	return b.Bytes()
}

// FuzzIndex verifies that no file makes the reader panic or loop, and that the found
// records cover the file.
func FuzzIndex(f *testing.F) {
	f.Add(frames([]byte("abc"), nil, make([]byte, 300)))
	f.Add(frames([]byte("abc"))[:17])
	f.Fuzz(func(t *testing.T, content []byte) {
		kind, err := detect("F", content)
		if exitcode.Of(err) == exitcode.BadData {
			return
		}
		if err != nil {
			t.Error(err)
		} else if kind != "none" {
			held, err := inflate(bytes.NewReader(content), int64(len(content)), kind, input.Limits{})
			if err != nil {
				return
			}
			content = make([]byte, held.Size())
			held.ReadAt(content, 0)
		}
		starts, err := index(t.Context(), "F", bytes.NewReader(content), int64(len(content)))
		if err != nil {
			if c := exitcode.Of(err); c != exitcode.BadData {
				t.Errorf("%v: code %d", err, c)
			}
			return
		}
		if last := starts[len(starts)-1]; starts[0] != 0 || last != int64(len(content)) {
			t.Fatalf("records cover [%d, %d) of %d bytes", starts[0], last, len(content))
		}
		for i, from := range starts[:len(starts)-1] {
			frame := content[from:starts[i+1]]
			if data, err := dataOf(frame); err == nil && !bytes.Equal(frames(data), frame) {
				t.Errorf("record %d: %x does not come back", i, frame)
			}
		}
	})
}

// FuzzExample verifies that no record with a right checksum makes the parsers panic or
// return inconsistent rows or cells, and that the encoder can encode each accepted record.
func FuzzExample(f *testing.F) {
	var e Encoder
	f.Add(e.AppendSparse(nil, 1, []uint32{3, 300}, []float32{0.5, 2}), false)
	f.Add(e.AppendSparse(nil, 0, nil, nil), false)
	e.FloatLabel = true
	f.Add(e.AppendDense(nil, 0.5, []float32{1, 2}), true)
	for _, seed := range []string{ // unpacked lists; value before key; two kinds
		"0a3a0a100a056c6162656c12071a050a03010101" + "0a0d0a0369647312061a0408030804" + "0a170a0676616c756573120d120b0d0000803f0d00000040",
		"0a0a0a0812041a02080112000a",
	} {
		b, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, false)
	}
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"label"}}},
		{IDs: &column.IDsOptions{Names: []string{"ids"}, Values: "values", Size: 400}},
		{Categorical: &column.CategoricalOptions{Names: []string{"city"}, Hash: 10}},
	}, nil)
	if err != nil {
		f.Fatal(err)
	}
	set := &columnSet{dataset: &dataset{}, columns: Columns{Plan: p}, place: map[string]int{"label": 0, "ids": 1, "values": 2, "city": 3}}
	f.Fuzz(func(t *testing.T, data []byte, dense bool) {
		for _, features := range []int{0, 400} {
			if features == 0 {
				fuzzFill(t, data, set)
			}
			if dense || features > 0 {
				fuzzAdd(t, data, &dataset{config: Config{Dense: dense}.withNames(), facts: input.Facts{Features: features}, ids: input.Limits{}.IDs(features)})
			}
		}
	})
}

// fuzzFill fills the cells of columns from data: each has one kind, and none without its feature.
func fuzzFill(t *testing.T, data []byte, s *columnSet) {
	r := s.newReader()
	if err := r.Fill(data); err != nil {
		return
	}
	for i, c := range r.Cells {
		kinds := 0
		for _, n := range []int{len(c.Text), len(c.IDs), len(c.Values)} {
			if n > 0 {
				kinds++
			}
		}
		if kinds > int(r.seen[i]) {
			t.Errorf("cell %d is %+v, seen %d", i, c, r.seen[i])
		}
	}
}

// fuzzAdd parses data and, if that succeeds, the output of the encoder for it.
func fuzzAdd(t *testing.T, data []byte, d *dataset) {
	var b, again input.Batch
	var s scratch
	if err := s.add(&b, data, d); err != nil {
		if len(b.Y)+b.X.Rows()+len(b.X.Bags.Slot)+len(b.X.Bags.Weights) > 0 {
			t.Errorf("%v, but the batch is %+v", err, b)
		}
		return
	}
	e := Encoder{FloatLabel: true}
	if d.config.Dense {
		data = e.AppendDense(nil, b.Y[0], b.X.Dense.Row(0))
	} else {
		ids, values := b.X.Bags.Slot, b.X.Bags.Weights
		data = e.AppendSparse(nil, b.Y[0], ids, values)
	}
	if err := s.add(&again, data, d); err != nil {
		t.Fatalf("%+v became %x: %v", b, data, err)
	}
	same := again.Y[0] == b.Y[0] && len(again.X.Bags.Slot) == len(b.X.Bags.Slot) && len(again.X.Dense.Data) == len(b.X.Dense.Data)
	for i, id := range b.X.Bags.Slot {
		same = same && again.X.Bags.Slot[i] == id && again.X.Bags.Weights[i] == b.X.Bags.Weights[i]
	}
	for i, v := range b.X.Dense.Data {
		same = same && again.X.Dense.Data[i] == v
	}
	if !same {
		t.Errorf("%+v became %+v", b, again)
	}
}
