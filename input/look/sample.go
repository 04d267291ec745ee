package look

import (
	"cmp"
	"math"
	"slices"

	"ringtrain/input/column"
	"ringtrain/model"
)

// mostSample bounds the numbers of a sample.
const mostSample = 2_000_000

// leastTelling is the AUC from which on a column alone tells the label.
const leastTelling = 0.99

// A sample has some records: of each field a number, or the hash of a text.
type sample struct {
	every int // of so many records one
	next  int // records of the part
	rows  []cells
}

// cells are the fields of a record, of which each is a number: its value, or its hash.
type cells []cellValue

type cellValue struct {
	number float64 // NaN of a text; -Inf: missing
	hash   uint64
}

// add takes a record of a part.
func (s *sample) add(fields []reading) {
	s.next++
	if (s.next-1)%s.every != 0 {
		return
	}
	row := make(cells, len(fields))
	for i := range fields {
		f := &fields[i]
		row[i] = cellValue{math.NaN(), hash(f.text)}
		if len(f.text) == 0 || column.MissingWord(f.text) >= 0 {
			row[i].number = math.Inf(-1)
		} else if v, is := number(f.text); is {
			row[i].number = v
		}
	}
	s.rows = append(s.rows, row)
}

// merge adds the rows of a part, up to mostSample numbers.
func (s *sample) merge(part *sample) {
	for _, row := range part.rows {
		if (len(s.rows)+1)*len(row) <= mostSample {
			s.rows = append(s.rows, row)
		}
	}
}

// tells returns the AUC of the field at as the only feature of a label with two values, or of its reverse; 0 if
// that says nothing.
func (s *sample) tells(at, label int) float64 {
	isText := slices.ContainsFunc(s.rows, func(r cells) bool { return math.IsNaN(r[at].number) })
	classes := map[uint64]bool{}
	rates := map[uint64]*[2]float64{} // of each text: records, and those of the class
	for _, r := range s.rows {
		classes[r[label].hash] = true
		if len(classes) > 2 {
			return 0
		}
		if rates[r[at].hash] == nil {
			rates[r[at].hash] = new([2]float64)
		}
	}
	if len(classes) < 2 || isText && (len(rates) > mostValues || leastOfClass*len(rates) > len(s.rows)) || len(s.rows) < 2*leastOfClass {
		return 0
	}
	class := s.rows[0][label].hash
	for _, r := range s.rows {
		n := rates[r[at].hash]
		n[0]++
		if r[label].hash == class {
			n[1]++
		}
	}
	points := make([]point, len(s.rows))
	for i, r := range s.rows {
		points[i] = point{r[at].number, r[label].hash == class}
		if n := rates[r[at].hash]; isText {
			points[i].x = n[1] / n[0]
		}
	}
	auc := area(points)
	return max(auc, 1-auc)
}

// A point is a value and whether it is of the class.
type point struct {
	x  float64
	is bool
}

// area is the share of pairs, of the class and not, in which that of the class has the larger value; ties count
// half.
func area(points []point) float64 {
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	var a model.Area
	for i := 0; i < len(points); {
		var is, not uint64
		for x := points[i].x; i < len(points) && points[i].x == x; i++ {
			if points[i].is {
				is++
			} else {
				not++
			}
		}
		a.Add(is, not)
	}
	return a.Value()
}
