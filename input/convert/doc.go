// Package convert opens, draws, converts and prints data sets, whatever their
// format: it is the one place that knows all formats.
//
//	kind of records          formats read        formats written
//	dense, label             idx, tfrecord       tfrecord
//	sparse, label            tfrecord, libsvm    tfrecord, libsvm
//
// Conversion is exact: float32 values and whole labels come back bit for bit.
// Outputs appear whole or not at all.
package convert
