// Package servingpb holds the messages and services of TensorFlow Serving that ringtrain speaks,
// under their own full names (tensorflow.serving.PredictionService) and field numbers: its clients,
// its configuration files and its warm-up files are read as they are. Tensors, signatures and
// examples are messages of package tfpb, which have the same bytes.
//
// Fields that ringtrain does not use are left out and survive as unknown fields, except those of
// the configuration: it is text, in which an unknown name is an error.
package servingpb

//go:generate sh generate.sh
