// Package tfpb holds the messages of TensorFlow's SavedModel and of TensorBoard's
// event files that ringtrain writes and reads.
//
// The messages are minimal. Names and field numbers are TensorFlow's, so the bytes are
// compatible. Fields that ringtrain does not use are omitted and survive as unknown
// fields. The protobuf package is ringtrain.tf, not tensorflow, so that a program may
// link TensorFlow's own messages too.
//
// Package bundle reads the messages of a checkpoint's index and encodes them by hand,
// because their bytes must equal TensorFlow's.
package tfpb

//go:generate sh -c "cd ../.. && protoc --plugin=protoc-gen-go=$(go tool -n protoc-gen-go) --go_out=. --go_opt=module=ringtrain export/tfpb/bundle.proto export/tfpb/graph.proto export/tfpb/saved_model.proto export/tfpb/event.proto export/tfpb/example.proto"
