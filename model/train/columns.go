package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"ringtrain/model/graph"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// digestOfColumns is short, and differs where the columns or what was learnt of them do.
func digestOfColumns(c *graph.Columns) string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("train: columns cannot be encoded")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// sameTexts returns an error if a vocabulary has another text for an id than the one that the
// variables of from were trained with. Other means and deviations are told.
func (r *run) sameTexts(from trained.Variables) error {
	now := r.data.Columns()
	if now == nil || from.Columns == nil {
		return nil
	}
	for _, b := range now.Bags {
		for _, was := range from.Columns.Bags {
			if was.Name == b.Name && was.Kind == b.Kind && (was.First != b.First || !slices.Equal(was.Vocabulary, b.Vocabulary)) {
				return exitcode.With(exitcode.Usage, fmt.Errorf(
					"train.init_from.path: %s has %d texts of column %s, these records have %d, and not the same: give the same vocabulary as a file, or exclude its variables",
					from.Path, len(was.Vocabulary), b.Name, len(b.Vocabulary)))
			}
		}
	}
	if !slices.Equal(now.Dense, from.Columns.Dense) {
		r.opts.Notice(fmt.Sprintf("means or deviations of columns are not those of %s: the records differ", from.Path))
	}
	return nil
}
