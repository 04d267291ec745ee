package proof

import (
	"testing"

	"ringtrain/input"
)

// TestPart verifies that a part of a block has the examples and the rows of its records, also a part of a part.
func TestPart(t *testing.T) {
	b := block{examples: [][]byte{{0}, {1}, {2}, {3}, {4}}, rows: rows{new(input.Batch), 0, 5}}
	part := b.part(1, 4)
	part = part.part(2, 3)
	if len(part.examples) != 1 || part.examples[0][0] != 2 || part.rows.first != 2 || part.rows.last != 3 {
		t.Errorf("the part has the examples %v and the rows [%d, %d), want record 2", part.examples, part.rows.first, part.rows.last)
	}
}
