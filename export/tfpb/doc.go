// Package tfpb holds the messages of TensorFlow's SavedModel and of TensorBoard's
// event files that ringtrain writes and reads.
//
// They are minimal: names and field numbers are TensorFlow's, so the bytes are
// what TensorFlow reads and writes, and fields that ringtrain does not use are
// left out (they survive as unknown fields). The protobuf package is
// ringtrain.tf, not tensorflow, so that a program may link TensorFlow's own
// messages too.
//
// A checkpoint's index has four small messages more; package bundle encodes
// them by hand, because their bytes must equal TensorFlow's.
package tfpb

//go:generate sh -c "cd ../.. && protoc --plugin=protoc-gen-go=$(go tool -n protoc-gen-go) --go_out=. --go_opt=module=ringtrain export/tfpb/graph.proto export/tfpb/saved_model.proto export/tfpb/event.proto"
