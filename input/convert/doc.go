// Package convert opens, draws, converts and prints data sets of any format. It is the
// only package that knows all formats.
//
//	kind of records          formats read        formats written
//	dense, label             idx, tfrecord       tfrecord
//	sparse, label            tfrecord, libsvm    tfrecord, libsvm
//
// Conversion is exact: float32 values and whole labels keep their bits. Outputs appear
// complete or not at all.
package convert
