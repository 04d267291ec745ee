package look

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"ringtrain/input"
	"ringtrain/input/convert"
	images "ringtrain/input/image"
	"ringtrain/ring/exitcode"
)

// lookRecords reads records that have no columns: their labels, their width, and whether each is good.
func (t *Table) lookRecords(ctx context.Context, o Options, dense bool) error {
	origin, err := t.Origin.Give(o.Here)
	if err == nil {
		origin, err = origin.Find(o.Roots, nil)
	}
	if err != nil {
		return err
	}
	d, err := convert.Open(ctx, convert.Spec{Origin: origin, Shape: t.Shape, Dense: dense, Limits: o.Limits, Cache: convert.CacheOff})
	if err != nil {
		return err
	}
	defer d.Close()
	facts := d.Facts()
	if facts.Load != nil {
		if err := facts.Load(); err != nil {
			return err
		}
	}
	t.Records, t.Dense = int64(facts.Records), dense
	if dense && t.Shape == nil {
		t.Shape = facts.Shape
	}
	if t.Records == 0 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s has no record", o.Names[0]))
	}
	labels, err := labelsOf(ctx, d)
	if err != nil {
		return err
	}
	t.Label, err = labels.label(facts.Classes, o.Number)
	return err
}

// labels are those of records without columns.
type labels struct {
	mu    sync.Mutex
	count map[float32]int64
	most  int // labels that are told apart
	many  bool
	all   tally
}

// labelsOf reads all records, side by side.
func labelsOf(ctx context.Context, d input.Dataset) (*labels, error) {
	l := &labels{count: map[float32]int64{}, most: mostValues}
	records := d.Facts().Records
	parts := (records + recordsOfPart - 1) / recordsOfPart
	sums := make([]tally, parts)
	err := input.SideBySide(ctx, parts, runtime.GOMAXPROCS(0), func(_, part int) error {
		var b input.Batch
		for i := part * recordsOfPart; i < min(records, (part+1)*recordsOfPart); i++ {
			b.Reset()
			if err := d.Append(&b, i); err != nil {
				return err
			}
			sums[part].number(float64(b.Y[0]), false)
			l.add(b.Y[0])
		}
		sums[part].end()
		return nil
	})
	for i := range sums {
		l.all.merge(&sums[i])
	}
	return l, err
}

func (l *labels) add(y float32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.many {
		return
	}
	l.count[y]++
	if len(l.count) > l.most {
		l.many, l.count = true, nil
	}
}

// column describes the labels, the most frequent first.
func (l *labels) column() *Column {
	c := &Column{Name: "label", content: numbers, tally: &l.all, Distinct: int64(len(l.count)), Numbers: l.all.describeNumbers(), Records: l.all.numbers}
	if l.many {
		c.Distinct, c.Estimate = int64(l.most)+1, true
	}
	for _, y := range slices.Sorted(maps.Keys(l.count)) {
		c.Values = append(c.Values, Value{strconv.FormatFloat(float64(y), 'f', -1, 32), l.count[y]})
	}
	slices.SortStableFunc(c.Values, func(a, b Value) int { return int(b.Records - a.Records) })
	return c
}

// label makes a Label. names are those of classes, nil for none; number says that the label is one.
func (l *labels) label(names []string, number bool) (*Label, error) {
	if names != nil && number {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--regression: the labels are the classes %s, want numbers", namesShown(names)))
	}
	label, err := l.column().label(number)
	if err == nil && names != nil {
		label.Classes = names
		nameClasses(label.Counts, names)
	}
	return label, err
}

// nameClasses has classes that are numbers have their names, as far as there are any.
func nameClasses(classes []Value, names []string) {
	for i := range classes {
		if at, err := strconv.Atoi(classes[i].Text); err == nil && at < len(names) {
			classes[i].Text = names[at]
		}
	}
}

// sides are the sizes that images are brought to.
var sides = [...]int{32, 64, 128, 224}

// mostSampled bounds the images whose size is looked at.
const mostSampled = 64

// lookImages looks at a folder of a folder of images for each class. It returns nil for anything else.
func lookImages(ctx context.Context, o Options) (*Table, error) {
	folder, err := input.ExpandFolder(o.Roots, o.Here[0])
	if err != nil || len(o.Names) > 1 || !slices.ContainsFunc(o.files, images.IsImage) {
		return nil, nil
	}
	all := convert.Formats()
	at := slices.IndexFunc(all, func(f convert.Format) bool { return f.Classes != nil })
	if classes, err := all[at].Classes(folder); err != nil || len(classes) == 0 {
		return nil, err
	}
	t := &Table{Origin: convert.Origin{Format: convert.FormatName(all[at].Name)}}
	if t.Origin, err = t.Origin.Give(o.Names); err != nil {
		return nil, err
	}
	t.Shape, err = shapeOf(folder)
	if err == nil {
		err = t.lookRecords(ctx, o, true)
	}
	return t, err
}

// shapeOf returns the shape that the images of a folder are brought to.
func shapeOf(folder string) ([]int, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		return nil, err
	}
	side, channels := 0, 1
	step := max(1, len(files)/mostSampled)
	for i := 0; i < len(files); i += step {
		if c, ok := imageConfig(files[i]); ok {
			side = max(side, min(c.Width, c.Height))
			if c.ColorModel != color.GrayModel && c.ColorModel != color.Gray16Model {
				channels = 3
			}
		}
	}
	to := sides[0]
	for _, s := range sides {
		if s <= side {
			to = s
		}
	}
	return []int{to, to, channels}, nil
}

// imageConfig reads size and colours of an image.
func imageConfig(name string) (image.Config, bool) {
	f, err := os.Open(name)
	if err != nil {
		return image.Config{}, false
	}
	defer f.Close()
	c, err := png.DecodeConfig(f)
	if err != nil {
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			c, err = jpeg.DecodeConfig(f)
		}
	}
	return c, err == nil
}
