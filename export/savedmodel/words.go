package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// betweenWords matches what stands between words. Bytes that are no UTF-8 are blanks before.
const betweenWords = `[^\pL\p{Nd}]+`

// words adds an id for each word of texts [n], and for words that follow one another.
func (cn columnNodes) words(name string, b *graph.BagColumn, field int64, text, n string) idPart {
	text = cn.add("UnicodeTranscode", name+"utf8", []string{text}, attrs{
		"input_encoding": stringAttr("UTF-8"), "output_encoding": stringAttr("UTF-8"), "replacement_char": intAttr(' '),
	})
	text = cn.replaced(name+"spaced", text, betweenWords, " ")
	if b.Lower {
		// TensorFlow's small letter depends on the letters beside these, or is two.
		text = cn.replaced(name+"sigma", text, "\u03a3", "\u03c3")
		text = cn.replaced(name+"dotted", text, "\u0130", "i")
		text = cn.add("StringLower", name+"lower", []string{text}, attrs{"encoding": stringAttr("utf-8")})
	}
	indices := cn.add("StringSplitV2", name+"words", []string{text, cn.texts(name+"words/separator", nil, "")}, attrs{})
	words := output(indices, 1)
	if b.NGrams > 1 {
		indices, words = cn.followers(name+"ngrams", indices, words, b.NGrams, n)
	}
	return cn.part(name, indices, cn.plus(name+"id", cn.hashed(name, b, words), int64(b.First)), field)
}

func (bu *builder) replaced(name, text, pattern, by string) string {
	return bu.add("RegexReplace", name, []string{text, bu.texts(name+"/pattern", nil, pattern), bu.texts(name+"/by", nil, by)}, attrs{})
}

// followers adds up to most words that follow one another in one of n texts, as one.
func (cn columnNodes) followers(name, indices, words string, most int, n string) (_, _ string) {
	rows := cn.columnOf(name+"/rows", indices, 0)
	ones := cn.plus(name+"/ones", cn.add("ZerosLike", name+"/zeros", []string{rows}, int64s()), 1)
	counts := cn.add("UnsortedSegmentSum", name+"/counts", []string{ones, rows, n}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Tindices": typeAttr(tfpb.DataType_DT_INT64), "Tnumsegments": typeAttr(tfpb.DataType_DT_INT64),
	})
	ends := cn.add("Cumsum", name+"/ends", []string{counts, cn.number(name+"/ends/axis", 0)}, int64s())
	splits := cn.add("ConcatV2", name+"/splits", []string{cn.longs(name+"/first", []int64{0}), ends, cn.number(name+"/splits/axis", 0)}, attrs{
		"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_INT64),
	})
	widths := &tfpb.AttrValue_ListValue{}
	for width := range int64(most) {
		widths.I = append(widths.I, width+1)
	}
	grams := cn.add("StringNGrams", name, []string{words, splits}, attrs{
		"separator": stringAttr(" "), "ngram_widths": listAttr(widths), "left_pad": stringAttr(""), "right_pad": stringAttr(""),
		"pad_width": intAttr(0), "preserve_short_sequences": boolAttr(false),
	})
	sparse := cn.add("RaggedTensorToSparse", name+"/sparse", []string{output(grams, 1), grams}, attrs{"RAGGED_RANK": intAttr(1), "T": typeAttr(tfpb.DataType_DT_STRING)})
	return sparse, output(sparse, 1)
}
