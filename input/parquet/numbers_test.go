package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

// TestNumbers verifies that a number is the one that its text in CSV stands for, rounded to float64 and to float32: also
// where a float64 lies amid two float32, and of integers beyond 2^53.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 35))
	of := func(c Column) *Column {
		c.settle()
		return &c
	}
	double, float := of(Column{element: element{physical: typeDouble}}), of(Column{element: element{physical: typeFloat}})
	half := of(Column{element: element{physical: typeFixed, length: 2, logical: logicalFloat16}})
	long, unsigned := of(Column{element: element{physical: typeInt64}}), of(Column{element: element{physical: typeInt64, logical: logicalInteger, unsigned: true}})
	decimal, small := of(Column{element: element{physical: typeInt64, logical: logicalDecimal, scale: 4}}), of(Column{element: element{physical: typeFixed, length: 13, logical: logicalDecimal, scale: 20}})
	draws := []struct {
		name   string
		column *Column
		raw    func() []byte
	}{
		{"double", double, func() []byte { return raw64(math.Float64bits(math.Ldexp(random.NormFloat64(), random.IntN(60)-30))) }},
		{"double amid floats", double, func() []byte { return raw64((random.Uint64()|tie)&^(tie-1)&^(1<<62) | 1<<61) }},
		{"double of few digits", double, func() []byte { return raw64(math.Float64bits(float64(random.IntN(1e6)) / 1e3)) }},
		{"float", float, func() []byte { return raw64(uint64(math.Float32bits(float32(random.NormFloat64()))))[:4] }},
		{"float16", half, func() []byte { return raw64(uint64(random.IntN(0x7c00)))[:2] }},
		{"int64", long, func() []byte { return raw64(random.Uint64() >> random.IntN(64)) }},
		{"uint64", unsigned, func() []byte { return raw64(random.Uint64()) }},
		{"decimal", decimal, func() []byte { return raw64(random.Uint64() >> random.IntN(64)) }},
		{"decimal of 13 bytes", small, func() []byte { return append(make([]byte, 5), raw64(random.Uint64())...) }},
	}
	for _, d := range draws {
		for range 3000 {
			raw := d.raw()
			written := string(d.column.appendText(nil, raw))
			for form, bits := range map[column.Form]int{column.AsNumber: 32, column.AsDouble: 64} {
				want, err := text.ParseFloat([]byte(written), bits)
				v := vector{form: form}
				if _, converted := d.column.convert(&v, raw, 1); err != nil || converted != nil {
					t.Fatalf("%s: %q: %v, %v", d.name, written, err, converted)
				}
				got := v.doubles[0]
				if bits == 32 {
					got = float64(float32(got))
				}
				if got != want {
					t.Fatalf("%s: %s of %d bits is %v, want %v", d.name, written, bits, got, want)
				}
			}
		}
	}
}

func raw64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// TestOtherTypes verifies that files of one set may have numbers of different types where numbers are read, and nothing
// else, and that a column which is missing is named.
func TestOtherTypes(t *testing.T) {
	type whole struct {
		Y int32 `parquet:"y"`
		A int64 `parquet:"a"`
	}
	type half struct {
		Y int32    `parquet:"y"`
		A *float64 `parquet:"a,optional"`
	}
	type word struct {
		Y int32  `parquet:"y"`
		A string `parquet:"a"`
	}
	type none struct {
		Y int32 `parquet:"y"`
		B int64 `parquet:"b"`
	}
	a := 1.5
	first := write(t, []whole{{0, 1}, {1, 2}})
	number, category := column.Column{Numeric: &column.NumericOptions{Names: []string{"a"}}}, column.Column{Categorical: &column.CategoricalOptions{Names: []string{"a"}, Hash: 9}}
	for _, tt := range []struct {
		name, file, want string
		as               column.Column
	}{
		{"numbers", write(t, []half{{1, &a}, {0, nil}}), "", number},
		{"texts of numbers", write(t, []half{{1, &a}}), "column a is float, want integer as in " + first, category},
		{"texts", write(t, []word{{1, "1"}}), "column a is text, want integer as in " + first, number},
		{"missing", write(t, []none{{1, 1}}), "no column a, which input.columns names", number},
	} {
		plan, err := column.Compile([]column.Column{{Label: &column.LabelOptions{Names: []string{"y"}}}, tt.as}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), []string{first, tt.file}, Config{Columns: plan})
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.file+": "+tt.want) || exitcode.Of(err) != exitcode.BadData {
				t.Errorf("case=%s: error %v, want %q", tt.name, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var b input.Batch
		if err := s.Append(&b, 3, 2, 1, 0); err != nil || fmt.Sprint(b.X.Dense.Data) != "[0 1.5 2 1]" {
			t.Errorf("case=%s: %v, error %v", tt.name, b.X.Dense.Data, err)
		}
		s.Close()
	}
}

// TestPoint verifies that a column of floats is not read where the job leaves out points as those between thousands: 1.5
// would be 15. Whole numbers have none.
func TestPoint(t *testing.T) {
	type record struct {
		Y int32   `parquet:"y"`
		A float64 `parquet:"a"`
		B int64   `parquet:"b"`
	}
	file := write(t, []record{{0, 1.5, 1}, {1, 2.5, 2}})
	for name, want := range map[string]string{"a": file + ": column a is float, and strip would leave out its point", "b": ""} {
		comma := column.Column{Numeric: &column.NumericOptions{Names: []string{name}, Decimal: ",", Strip: "€."}}
		plan, err := column.Compile([]column.Column{{Label: &column.LabelOptions{Names: []string{"y"}}}, comma}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), []string{file}, Config{Columns: plan})
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData) {
			t.Errorf("column=%s: error %v, want %q", name, err, want)
		}
		if err == nil {
			s.Close()
		}
	}
}
