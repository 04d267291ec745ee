package savedmodel

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/ring/exitcode"
)

// TestReadNested verifies that a graph whose attributes are in each other without end is bad data, and
// takes no stack that grows with it.
func TestReadNested(t *testing.T) {
	const levels = 100_000
	message := make([]byte, 40*levels)
	at := len(message)
	within := func(fields ...protowire.Number) { // the message so far becomes the innermost of these fields
		for _, f := range fields {
			head := protowire.AppendVarint(protowire.AppendTag(nil, f, protowire.BytesType), uint64(len(message)-at))
			at -= copy(message[at-len(head):], head)
		}
	}
	for range levels {
		within(2, 2, 10) // the value of an entry, NameAttrList.attr, AttrValue.func
	}
	within(2, 5, 1, 2, 2) // an entry of NodeDef.attr, GraphDef.node, MetaGraphDef.graph_def, SavedModel.meta_graphs
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, modelFile), message[at:], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v with code %d, want %d", err, exitcode.Of(err), exitcode.BadData)
	}
}
