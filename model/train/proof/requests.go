package proof

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/graph"
)

// MadeRequests is how many requests are made up for the warm-up of a server.
const MadeRequests = 8

// Request is a record that is in no file: of the columns of a model, or of its ids and numbers.
type Request struct {
	name  string        // for people
	cells []column.Cell // of the plan's Inputs; nil without columns
	dense []float32
	bags  [][]uint32 // ids of each field
}

// MakeUp returns requests of the model, always the same. They have nothing of any record.
func (p *Prover) MakeUp() []Request {
	g := p.of.Model.Graph()
	all := make([]Request, MadeRequests)
	for i := range all {
		r := rand.New(rand.NewPCG(uint64(i), 33))
		all[i].name = fmt.Sprintf("made-up request %d", i+1)
		if p.of.Plan != nil {
			all[i].cells = p.accepted(madeCells(i, r, g.Columns, p.of.Plan))
			for k := i; k < len(g.Columns.Bags); k += len(all) {
				p.tell(all[i].cells, &g.Columns.Bags[k])
			}
			continue
		}
		for _, port := range g.Inputs {
			if port.Kind == graph.Dense {
				for range port.Shape.Len() {
					all[i].dense = append(all[i].dense, float32(r.IntN(256))/255)
				}
				continue
			}
			for range max(port.Fields, 1) {
				var ids []uint32
				for range 1 + r.IntN(3) {
					ids = append(ids, uint32(r.IntN(port.Shape.Len())))
				}
				all[i].bags = append(all[i].bags, ids)
			}
		}
	}
	return all
}

// accepted returns cells without those that the model refuses.
func (p *Prover) accepted(cells []column.Cell) []column.Cell {
	for range cells {
		var b input.Batch
		refused, ok := errors.AsType[*column.InputError](p.examples.runner.Append(&b, cells))
		if !ok {
			break
		}
		cells[refused.Input] = column.Cell{}
	}
	return cells
}

// appendTo adds a request without columns to a batch.
func (r *Request) appendTo(b *input.Batch) {
	if len(r.dense) > 0 {
		copy(b.DenseRow(len(r.dense)), r.dense)
	}
	if len(r.bags) > 0 {
		bags := b.Bags(len(r.bags))
		for _, ids := range r.bags {
			for _, id := range ids {
				bags.Add(id, 1)
			}
			bags.End()
		}
	}
	b.Y = append(b.Y, 0)
}

// madeCells returns a cell for each column that request i reads. A column that is read in several ways has a number if one of
// them wants it, a number of its vocabulary before any other, and a date before that.
func madeCells(i int, r *rand.Rand, c *graph.Columns, plan *column.Plan) []column.Cell {
	cells := make([]column.Cell, len(plan.Inputs))
	at := func(name string) *column.Cell { return &cells[slices.Index(plan.Inputs, name)] }
	set := func(name, text string) { at(name).Text = []byte(text) }
	for _, name := range c.Keys {
		set(name, fmt.Sprintf("key-%d", 1+r.IntN(1000)))
	}
	numbers := map[string]bool{} // columns that have a number of their vocabulary
	for k := range c.Bags {
		b := &c.Bags[k]
		madeBag(r, b, set)
		if n := len(b.Vocabulary); b.Kind == graph.Vocabulary && n > 0 { // the requests are spread over it, so that another order changes answers
			text := b.Vocabulary[i*(n-1)/(MadeRequests-1)]
			set(b.Name, text)
			numbers[b.Name] = isNumber([]byte(text))
		}
	}
	for k := range c.Dense {
		if d := &c.Dense[k]; d.Part == "" && !numbers[d.Name] {
			set(d.Name, written(c, d.Name, near(r, d)))
		}
	}
	for k := range c.Bags {
		if b := &c.Bags[k]; b.Kind == graph.Buckets && !(numbers[b.Name] && i%2 == 0) {
			set(b.Name, written(c, b.Name, b.Boundaries[r.IntN(len(b.Boundaries))]+float64(r.IntN(3)-1)))
		}
	}
	for _, d := range c.Dates {
		set(d.Name, madeDate(r, d.Layout))
	}
	return cells
}

// madeBag makes the cell of a column of texts or ids, but for one with a vocabulary.
func madeBag(r *rand.Rand, b *graph.BagColumn, set func(name, text string)) {
	switch b.Kind {
	case graph.Hash:
		set(b.Name, fmt.Sprintf("text-%d", r.IntN(1000)))
	case graph.Words:
		set(b.Name, fmt.Sprintf("some words of a text %d", r.IntN(1000)))
	case graph.IDs:
		ids, values := strconv.Itoa(r.IntN(int(b.Size))), "1"
		set(b.Name, ids)
		if b.Values != "" {
			set(b.Values, values)
		}
	}
}

// near returns a number near the mean of a column, of few digits: a whole one if the least and the largest number are whole.
func near(r *rand.Rand, d *graph.DenseColumn) float64 {
	x := d.Unit(r.NormFloat64() / 2)
	if d.Min < d.Max {
		x = min(max(x, d.Min), d.Max)
	}
	step := math.Pow10(int(math.Floor(math.Log10(math.Abs(d.Unit(1)-d.Unit(-1)) / 100))))
	if d.Min < d.Max && d.Min == math.Trunc(d.Min) && d.Max == math.Trunc(d.Max) {
		step = max(step, 1)
	}
	if rounded := math.Round(x/step) * step; rounded != 0 && !math.IsNaN(rounded) && !math.IsInf(rounded, 0) {
		return rounded
	}
	return x
}

// written returns a number in the form in which the cells of a column have it.
func written(c *graph.Columns, name string, x float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 32)
	for _, form := range c.Forms {
		if form.Name == name && form.Decimal != "." {
			text = strings.Replace(text, ".", form.Decimal, 1)
		}
	}
	return text
}

// madeDate returns a date of a layout.
func madeDate(r *rand.Rand, layout string) string {
	seconds := 1_700_000_000 + r.Int64N(50_000_000)
	switch layout {
	case graph.Unix:
		return strconv.FormatInt(seconds, 10)
	case graph.UnixMilli:
		return strconv.FormatInt(1000*seconds, 10)
	}
	tokens, err := graph.DateTokens(layout)
	if err != nil {
		return ""
	}
	var text strings.Builder
	for _, t := range tokens {
		switch t.Field {
		case 'Y':
			fmt.Fprintf(&text, "%04d", 2020+r.IntN(6))
		case 'y':
			fmt.Fprintf(&text, "%02d", 20+r.IntN(6))
		case 'm':
			fmt.Fprintf(&text, "%02d", 1+r.IntN(12))
		case 'd':
			fmt.Fprintf(&text, "%02d", 1+r.IntN(28))
		case 'H', 'M', 'S':
			fmt.Fprintf(&text, "%02d", r.IntN(24))
		case 'f':
			text.WriteString("0")
		case 'z':
			text.WriteString("+0000")
		default:
			if t.Literal != "" {
				text.WriteString(string([]rune(t.Literal)[:1]))
			}
		}
	}
	return text.String()
}
