package speed

import (
	"fmt"
	"slices"
	"strings"
)

// A clickCase is the part of a Case about click logs: records, model, and what is timed.
type clickCase struct {
	rows    int    // records of the log; 0: not a case of a click log
	ids     int    // distinct ids over all fields
	spreads []int  // one log per table size, in multiples of ids
	kind    string // of the model
	factors int    // of an id
	drawn   bool   // libraries read the records from binary files into memory
	texts   []string
	numbers int  // numeric columns of a csv text
	parse   bool // only parsing; the figure is rows per second of CPU time
	cached  bool // the pass reads the cache of the text
}

// clickFields is the number of fields of every click log here, that of Criteo's.
const clickFields = 39

// Names of contenders.
const (
	twoRanksSVM = "ringtrain, 2 ranks, LibSVM"
	twoRanksVW  = "ringtrain, 2 ranks, VW text"
	oneRankSVM  = "ringtrain, 1 rank, LibSVM"
	parseSVM    = "ringtrain, LibSVM"
	parseVW     = "ringtrain, VW text"
	vwOne       = "VW"
	vwTwo       = "VW, 2 processes"
	vwCached    = "VW, cache"
	vwNoop      = "VW, --noop"
	torchSparse = "PyTorch, sparse, 1 thread"
	torchSparS  = "PyTorch, sparse, 2 threads"
	torchDense  = "PyTorch, dense, 2 threads"
	torchHand   = "PyTorch, by hand, 1 thread"
	torchHandS  = "PyTorch, by hand, 2 threads"
	torchRows   = "PyTorch, DDP, sparse, 2 ranks"
	tfRowsFit   = "TensorFlow, fit, ids"
	tfRowsLoop  = "TensorFlow, graph loop, ids"
	tableSmall  = "ringtrain, 0.5 M rows"
	tableMiddle = "ringtrain, 5 M rows"
	tableLarge  = "ringtrain, 50 M rows"
)

// tableCase is the case whose memory is reported without its table.
const tableCase = "table"

// constantLoss is the upper bound of the loss. A model that has learnt only the share of
// clicks, 24 to 29 %, has a loss of 0.55 to 0.60.
const constantLoss = 0.6

// clickCases returns the cases of the suite Clicks.
func clickCases() []Case {
	torch := []string{torchSparse, torchSparS, torchDense, torchHand, torchHandS}
	every := slices.Concat(torch, []string{torchRows, tfRowsFit, tfRowsLoop})
	pass := Case{
		Name: "pass", Text: "sparse-linear, 1 M ids x 39, 500,000 rows of text, one pass end to end",
		batch: 2000, optimizer: "adagrad", rate: 0.2, maxLoss: constantLoss,
		click: clickCase{rows: 500000, ids: 1e6, kind: "sparse-linear", texts: []string{"libsvm", "vw"}},
		who:   []string{twoRanksSVM, twoRanksVW, oneRankSVM, vwOne, vwTwo},
		bars: []bar{
			{ours: twoRanksSVM, theirs: []string{vwOne}, want: 1.2}, {ours: twoRanksSVM, theirs: []string{vwTwo}, want: 0.9},
			{ours: twoRanksVW, theirs: []string{vwOne}, want: 1.2}, {ours: twoRanksVW, theirs: []string{vwTwo}, want: 0.9},
		},
	}
	cache := pass
	cache.Name, cache.Text, cache.click.cached = "cache", "the same, a pass from the cache", true
	cache.who, cache.bars = []string{twoRanksSVM, oneRankSVM, vwCached}, []bar{{ours: twoRanksSVM, theirs: []string{vwCached}, want: 2}}
	parse := pass
	parse.Name, parse.Text, parse.click.parse, parse.maxLoss = "parse", "the same text, parsed alone, by CPU time", true, 10
	parse.who, parse.bars = []string{parseSVM, parseVW, vwNoop}, []bar{
		{ours: parseSVM, theirs: []string{vwNoop}, want: 2}, {ours: parseVW, theirs: []string{vwNoop}, want: 2},
	}
	fm := Case{
		Name: "fm", Text: "fm, 8 factors, 1 M ids x 39, batch 2000, adagrad, training only",
		batch: 2000, optimizer: "adagrad", rate: 0.02, maxLoss: constantLoss,
		click: clickCase{rows: 200000, ids: 1e6, kind: "fm", factors: 8, drawn: true, texts: []string{"libsvm"}},
		who:   slices.Concat([]string{twoRanks, oneRank}, every),
		bars:  []bar{{ours: twoRanks, theirs: slices.Concat(torch, []string{torchRows}), want: 3}},
	}
	deep := func(kind string) Case {
		c := fm
		c.Name, c.Text, c.hidden = kind, kind+", 39 fields x 8, 1 M ids, hidden 128-32-8, batch 2000, adagrad, training only", []int{128, 32, 8}
		c.click.kind, c.click.texts = kind, []string{"csv"}
		c.bars = []bar{{ours: twoRanks, theirs: every, want: 1}, {ours: twoRanks, theirs: []string{torchRows}, want: 2}}
		return c
	}
	table := Case{
		Name: tableCase, Text: "fm, 8 factors, the same 0.5 M ids over larger tables, batch 2000, sgd, 2 ranks",
		batch: 2000, optimizer: "sgd", rate: 0.5, maxLoss: constantLoss,
		click: clickCase{rows: 200000, ids: 5e5, kind: "fm", factors: 8, spreads: []int{1, 10, 100}, texts: []string{"libsvm"}},
		who:   []string{tableSmall, tableMiddle, tableLarge},
		bars:  []bar{{ours: tableLarge, theirs: []string{tableMiddle}, want: 1 / 1.3}},
	}
	return []Case{pass, cache, parse, fm, deep("wide-deep"), deep("deepfm"), table}
}

// spec returns the additional input of the drivers of click logs.
func (c clickCase) spec(f clickFiles) map[string]any {
	if c.rows == 0 {
		return nil
	}
	return map[string]any{
		"model": c.kind, "factors": c.factors, "features": c.ids, "fields": clickFields, "rows": c.rows,
		"ids": f.ids, "click_labels": f.labels, "text": f.text("vw", 1), "file": f.text(c.texts[0], 1), "bits": hashBits, "vw_rate": vwRate,
	}
}

// vwRate is the best of Vowpal Wabbit's rates from 0.07 to 0.8 on these logs.
const vwRate = 0.15

// hashBits is the size of VW's table: 2^20 rows for a million ids.
const hashBits = 20

// clickJob returns ringtrain's job file for a click log: a text in the given format,
// over a table of spread times the drawn ids.
func (c Case) clickJob(f clickFiles, format string, spread int) string {
	features := c.click.ids * spread
	model := []string{"kind: " + c.click.kind}
	switch {
	case format == "vw":
		model = append(model, fmt.Sprintf("features: %d", 1<<hashBits))
	case format != "csv":
		model = append(model, fmt.Sprintf("features: %d", features))
	}
	if c.click.factors > 0 {
		model = append(model, fmt.Sprintf("embedding: %d", c.click.factors))
	}
	if len(c.hidden) > 0 {
		model = append(model, "hidden: ["+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.hidden)), ", "), "[]")+"]")
	}
	epochs, validation := endless, ""
	if c.click.factors == 0 { // and progressive validation, as in VW
		epochs, validation = 1, "eval: {progressive: true}\n"
	}
	train := map[string]string{
		"csv": fmt.Sprintf("{format: csv, header: true, files: [%q]}\n  columns:\n    - label: {names: [label]}\n    - categorical: {names: [C1..C%d], hash: %d}",
			f.text(format, spread), clickFields, c.click.ids/clickFields),
	}[format]
	if train == "" {
		train = fmt.Sprintf("{format: %s, files: [%q]}", format, f.text(format, spread))
	}
	cache := "off" // a turn must not use the cache of an earlier one
	if c.click.cached {
		cache = f.folder
	}
	train += fmt.Sprintf("\n  cache: %q", cache)
	return fmt.Sprintf("name: bench-%s\nmodel: {%s}\ninput:\n  train: %s\n  batch: %d\n  shuffle: true\n"+
		"loss: {kind: sigmoid}\noptimizer: {name: %s, learning_rate: %v}\ntrain: {epochs: %d, seed: 1}\n%s",
		c.Name, strings.Join(model, ", "), train, c.batch, c.optimizer, c.rate, epochs, validation)
}

// clickFiles are the files of a drawn click log.
type clickFiles struct {
	folder      string
	texts       map[string]string // by format and spread
	ids, labels string            // binary files for libraries, "" without drawn
}

func textKey(format string, spread int) string { return fmt.Sprintf("%s-%d", format, spread) }

// text returns the file of a format and spread.
func (f clickFiles) text(format string, spread int) string { return f.texts[textKey(format, spread)] }
