// Package ask reads what people ask an exported model, and writes what the model answers: JSON and CSV on
// one side, the tensors of a signature on the other.
//
//	JSON ─► Parse ─► Document ─► Inputs, Examples ─► tensors ─► a run ─► AppendRows, AppendColumns, AppendResults ─► JSON
//	CSV  ─► Table ─► tensors ─► a run ─► Answers ─► CSV
//
// The forms of JSON are those of TensorFlow Serving. A signature that takes tf.Examples also takes rows of
// raw columns: the names and types of its features make the examples. Numbers may be NaN, Infinity and
// -Infinity, which JSON does not know: they are read and written bare.
//
// Every error is a fault of what was asked, and says where: the item and the key, or the line and the column.
package ask
