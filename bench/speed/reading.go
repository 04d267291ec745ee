package speed

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/csvfile"
	"ringtrain/input/parquet"
	"ringtrain/ring/exitcode"
)

// A readFormat is a format of drawn click logs that ringtrain and others read.
type readFormat struct {
	name, text string
	made       string // format of the file; numbers is its number of numeric columns
	numbers    int
	rows       int      // 0: inputRows
	looks      []string // contenders of ringtrain beside its reader
	open       func(ctx context.Context, file string) (input.Dataset, error)
	theirs     []string
	bars       []bar
}

// readFormats returns the formats of bench input. A new format needs a line here.
func readFormats() []readFormat {
	ofFormat := func(format string) func(context.Context, string) (input.Dataset, error) {
		return func(ctx context.Context, file string) (input.Dataset, error) {
			return convert.Open(ctx, convert.Spec{Origin: convert.Origin{Format: convert.FormatName(format), Files: []string{file}}, Features: 1 << hashBits})
		}
	}
	numbers := column.Column{Numeric: &column.NumericOptions{Names: []string{fmt.Sprintf("I1..I%d", clickFields)}}}
	words := column.Column{Categorical: &column.CategoricalOptions{Names: []string{fmt.Sprintf("C1..C%d", clickFields)}, Hash: 1 << hashBits / clickFields}}
	return []readFormat{
		{name: "libsvm", text: "LibSVM, beside the same records in VW's text", made: "libsvm", open: ofFormat("libsvm"), theirs: []string{vwNoop},
			bars: []bar{{ours: reader, theirs: []string{vwNoop}, want: 2}}},
		{name: "libffm", text: "libffm", made: "libffm", open: ofFormat("libffm")},
		{name: "vw", text: "VW text", made: "vw", open: ofFormat("vw"), theirs: []string{vwNoop}},
		{name: "csv-numbers", text: "CSV of numbers", made: "csv", numbers: clickFields, open: openColumns(numbers), theirs: []string{arrowCSV, flowCSV},
			bars: []bar{{ours: reader, theirs: []string{arrowCSV}, want: 1}}},
		{name: "csv", text: "CSV of words of 8 letters, hashed by ringtrain", made: "csv", open: openColumns(words), theirs: []string{arrowCSV}},
		{name: "table", text: "CSV of a label, 13 numbers and 26 words", made: "csv", numbers: tableNumbers, rows: tableRows, open: openColumns(tableColumns()...), looks: []string{splitReader, lookInit, lookCheck, readParquet},
			theirs: []string{pandasCSV, arrowCSV, polarsCSV, arrowParquet}, bars: []bar{{ours: readParquet, theirs: []string{arrowParquet}, want: 0.7}, {ours: readParquet, theirs: []string{reader}, want: 1}, {ours: splitReader, theirs: []string{reader}, want: 0.95}, {ours: lookInit, theirs: []string{reader}, want: 0.5}, {ours: lookCheck, theirs: []string{reader}, want: 0.5}}},
		{name: "tfrecord", text: "TFRecord of Examples", made: "tfrecord", open: ofFormat("tfrecord"), theirs: []string{flowRecords}},
	}
}

// Names of contenders that read.
const (
	reader       = "ringtrain, reader"
	splitReader  = "ringtrain, 9 tenths"
	lookInit     = "ringtrain, init"
	lookCheck    = "ringtrain, data check"
	readParquet  = "ringtrain, Parquet"
	arrowCSV     = "pyarrow, 1 thread"
	arrowParquet = "pyarrow, Parquet, 2 threads"
	pandasCSV    = "pandas"
	polarsCSV    = "polars, 1 thread"
	flowCSV      = "tf.data, CsvDataset"
	flowRecords  = "tf.data, TFRecordDataset"
)

const (
	inputRows    = 200_000   // records of the files of bench input
	tableRows    = 3_500_000 // of the table: 1 GB
	tableNumbers = 13        // columns of the table that are numbers, as in Criteo's
)

// tableColumns are the columns of the table but for the label.
func tableColumns() []column.Column {
	return []column.Column{
		{Numeric: &column.NumericOptions{Names: []string{fmt.Sprintf("I1..I%d", tableNumbers)}}},
		{Categorical: &column.CategoricalOptions{Names: []string{fmt.Sprintf("C1..C%d", clickFields-tableNumbers)}, Hash: 1 << hashBits / clickFields}},
	}
}

// inputCases returns the cases of the suite Input.
func inputCases() []Case {
	var all []Case
	for _, f := range readFormats() {
		texts := []string{f.made}
		if f.name == "libsvm" {
			texts = append(texts, "vw") // for VW
		}
		all = append(all, Case{
			Name: f.name, Text: f.text + fmt.Sprintf(", %d records x %d", cmp.Or(f.rows, inputRows), clickFields), batch: 1000, maxLoss: 10,
			click: clickCase{rows: cmp.Or(f.rows, inputRows), ids: 1e6, kind: f.name, texts: texts, numbers: f.numbers, parse: true},
			who:   slices.Concat([]string{reader}, f.looks, f.theirs), bars: f.bars,
		})
	}
	return all
}

// openColumns returns a function that opens a CSV file of a label and columns.
func openColumns(of ...column.Column) func(context.Context, string) (input.Dataset, error) {
	return func(ctx context.Context, file string) (input.Dataset, error) {
		plan, err := planOf(of)
		if err != nil {
			return nil, err
		}
		return csvfile.Open(ctx, []string{file}, csvfile.Config{Format: "csv", Columns: plan, Header: true})
	}
}

func planOf(columns []column.Column) (*column.Plan, error) {
	return column.Compile(append([]column.Column{{Label: &column.LabelOptions{Names: []string{"label"}}}}, columns...), nil)
}

// parsing opens a file and reads all of its records once, in order, in this process, or those of training of a split
// that holds out a tenth. The figure is per second of CPU time.
type parsing struct {
	format  string // name in readFormats; "": that of the case
	split   bool
	parquet bool // the same records, as pyarrow's driver writes them beside the file

	open1 func(context.Context) (input.Dataset, error)
	batch int
}

func (p *parsing) open(ctx context.Context, w work) (string, error) {
	if p.format == "" {
		p.format = w.Name
	}
	for _, f := range readFormats() {
		if f.name == p.format {
			file := w.records.log.text(f.made, 1)
			p.open1 = func(ctx context.Context) (input.Dataset, error) { return f.open(ctx, file) }
			p.batch = w.batch
		}
	}
	if p.parquet {
		return "", p.openParquet(ctx, w)
	}
	d, err := p.open1(ctx)
	if exitcode.Of(err) == exitcode.Usage {
		return "", lacking{err}
	}
	if err != nil {
		return "", err
	}
	return "", d.Close()
}

// openParquet has a turn open the file of pyarrow's driver, which writes it before the first turn.
func (p *parsing) openParquet(ctx context.Context, w work) error {
	if _, err := arrowReads.python(ctx); err != nil {
		return lacking{err}
	}
	file := w.records.log.text("csv", 1) + ".parquet"
	p.open1 = func(ctx context.Context) (input.Dataset, error) {
		plan, err := planOf(tableColumns())
		if err != nil {
			return nil, err
		}
		return parquet.Open(ctx, []string{file}, parquet.Config{Columns: plan})
	}
	return nil
}

func (p *parsing) turn(ctx context.Context, _ time.Duration) (turn, error) {
	runtime.GC() // do not count the garbage of other contenders
	before := cpuTime()
	n, err := p.read(ctx)
	if err != nil {
		return turn{}, err
	}
	return turn{rate: float64(n) / (cpuTime() - before).Seconds()}, nil
}

// read reads all records and returns their number.
func (p *parsing) read(ctx context.Context) (int, error) {
	d, err := p.open1(ctx)
	if err != nil {
		return 0, err
	}
	if p.split {
		share := 0.1
		all, err := input.Divide(d, &input.Split{Share: &share})
		if err != nil {
			return 0, err
		}
		d = all[input.Training]
		defer all[input.Validation].Close()
	}
	defer d.Close()
	s, err := input.NewSource(ctx, d, input.SourceConfig{Batch: p.batch, Size: 1}, input.Position{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var b input.Batch
	n := 0
	for records := d.Facts().Records; n < records; {
		if err := s.Next(ctx, &b); err != nil {
			return 0, err
		}
		n += len(b.Y)
	}
	return n, nil
}

func (p *parsing) close() {}
