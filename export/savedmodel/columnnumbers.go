package savedmodel

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// denseColumns adds the dense input x [n, columns], which is computed in double and then rounded.
func (cn columnNodes) denseColumns(columns []graph.DenseColumn, p parsedColumns) {
	var missing, mean, scale []float64
	var logs []bool
	someLogs := false
	for _, d := range columns {
		missing, mean, scale, logs = append(missing, d.Default), append(mean, d.Mean), append(scale, d.Scale), append(logs, d.Log1p)
		someLogs = someLogs || d.Log1p
	}
	double := doubles()
	x := cn.denseNumbers(columns, p)
	isMissing := cn.add("IsNan", "columns/missing", []string{x}, double)
	x = cn.add("SelectV2", "columns/known", []string{isMissing, cn.doubles("columns/default", missing), x}, double)
	if someLogs {
		sign := cn.add("Sign", "columns/sign", []string{x}, double)
		log := cn.add("Log1p", "columns/log1p", []string{cn.add("Abs", "columns/abs", []string{x}, double)}, double)
		log = cn.add("Mul", "columns/signed", []string{sign, log}, double)
		x = cn.add("SelectV2", "columns/transformed", []string{cn.bools("columns/logs", logs), log, x}, double)
	}
	x = cn.add("Sub", "columns/centred", []string{x, cn.doubles("columns/mean", mean)}, double)
	x = cn.add("Mul", "columns/scaled", []string{x, cn.doubles("columns/scale", scale)}, double)
	cn.cast(nodeX, x, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_FLOAT)
}

// denseNumbers adds the numbers of dense columns as double [n, columns], NaN for missing ones.
func (cn columnNodes) denseNumbers(columns []graph.DenseColumn, p parsedColumns) string {
	isWide := func(d graph.DenseColumn) bool { return d.Part != "" || p.isWide(d.Name) }
	someWide := slices.ContainsFunc(columns, isWide)
	var all []string
	for i, d := range columns {
		x := p.numbers[d.Name]
		if d.Part != "" {
			x = cn.datePart(fmt.Sprintf("columns/part_%d/", i), p.dates[d.Name], d.Part)
		}
		if someWide && !isWide(d) {
			x = cn.toDouble(fmt.Sprintf("columns/doubles/%d", i), x)
		}
		all = append(all, x)
	}
	if someWide {
		return cn.stack("columns/numbers", all, tfpb.DataType_DT_DOUBLE)
	}
	return cn.toDouble("columns/doubles", cn.stack("columns/numbers", all, tfpb.DataType_DT_FLOAT))
}

// bucketed adds the number of boundaries that are not above a number, which is double if it is wide. Else
// it and the boundaries are float32, as a request has them.
func (cn columnNodes) bucketed(name string, b *graph.BagColumn, x string, wide bool) (id, mask string) {
	missing, boundaries := b.Default, b.Boundaries
	if !wide {
		missing, boundaries = float64(float32(missing)), graph.Narrow(boundaries)
		x = cn.toDouble(name+"double", x)
	}
	isMissing := cn.add("IsNan", name+"missing", []string{x}, doubles())
	x = cn.add("SelectV2", name+"known", []string{isMissing, cn.double(name+"default", missing), x}, doubles())
	x = cn.add("ExpandDims", name+"column", []string{x, cn.number(name+"column/dim", 1)}, doubles())
	reached := cn.add("GreaterEqual", name+"reached", []string{x, cn.doubles(name+"boundaries", boundaries)}, doubles())
	mask = cn.add("LogicalNot", name+"there", []string{isMissing}, attrs{})
	if b.HasDefault {
		mask = cn.add("LogicalOr", name+"always", []string{isMissing, mask}, attrs{})
	}
	ones := cn.cast(name+"ones", reached, tfpb.DataType_DT_BOOL, tfpb.DataType_DT_INT64)
	return cn.add("Sum", name+"bucket", []string{ones, cn.numbers(name+"bucket/axis", 1)}, int64s()), mask
}

// numberOf adds the number that a text of a column is, NaN for an empty one and the words for missing.
func (cn columnNodes) numberOf(name, text, column string, c *graph.Columns) string {
	words := c.NumberWords
	text = cn.add("StringStrip", name+"plain", []string{text}, attrs{})
	isMissing := cn.isWord(name, text, words)
	for _, form := range c.Forms {
		if form.Name == column {
			text = cn.plainNumber(name, text, form)
		}
	}
	text = cn.add("SelectV2", name+"text", []string{isMissing, cn.texts(name+"zero", nil, "0"), text}, stringsType())
	x := cn.add("StringToNumber", name+"parsed", []string{text}, attrs{"out_type": typeAttr(tfpb.DataType_DT_DOUBLE)})
	for i, v := range numbersOf(words) {
		narrow := cn.cast(fmt.Sprintf("%snarrow_%d", name, i), x, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_FLOAT)
		is := cn.add("Equal", fmt.Sprintf("%sis_%d", name, i), []string{narrow, cn.float(fmt.Sprintf("%sword_%d", name, i), v)}, floats())
		isMissing = cn.add("LogicalOr", fmt.Sprintf("%smissing_%d", name, i), []string{isMissing, is}, attrs{})
	}
	return cn.add("SelectV2", name+"number", []string{isMissing, cn.double(name+"none", math.NaN()), x}, doubles())
}

// plainNumber adds a number as it would be written without a form of its own.
func (cn columnNodes) plainNumber(name, text string, form graph.NumberForm) string {
	replace := func(part, pattern, by string) {
		text = cn.add("RegexReplace", name+part, []string{text, cn.texts(name+part+"/pattern", nil, pattern), cn.texts(name+part+"/rewrite", nil, by)}, attrs{})
	}
	var strip []string
	for _, c := range form.Strip {
		strip = append(strip, regexp.QuoteMeta(string(c)))
	}
	if len(strip) > 0 {
		replace("stripped", strings.Join(strip, "|"), "")
	}
	if form.Decimal != "." {
		replace("other", `\.`, "x") // is no number
		replace("decimal", regexp.QuoteMeta(form.Decimal), ".")
	}
	return cn.add("StringStrip", name+"number_text", []string{text}, attrs{})
}

// known adds numbers with NaN in place of those that are words for missing.
func (cn columnNodes) known(name, x string, words []string) string {
	for i, v := range numbersOf(words) {
		is := cn.add("Equal", fmt.Sprintf("%sis_%d", name, i), []string{x, cn.float(fmt.Sprintf("%sword_%d", name, i), v)}, floats())
		x = cn.add("SelectV2", fmt.Sprintf("%snumber_%d", name, i), []string{is, cn.float(fmt.Sprintf("%snone_%d", name, i), float32(math.NaN())), x}, floats())
	}
	return x
}

// numbersOf returns the words that are numbers.
func numbersOf(words []string) []float32 {
	return slices.DeleteFunc(graph.WordNumbers(words), func(v float32) bool { return v != v })
}
