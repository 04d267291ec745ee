// Package tfrecord reads and writes TFRecord files of tf.Example, TensorFlow's
// format for training data.
//
// # Framing
//
//	0                       8           12                12+length    16+length
//	┌───────────────────────┬───────────┬─────────── … ──────┬───────────┐
//	│        length         │ length crc│        data        │ data crc  │
//	└───────────────────────┴───────────┴─────────── … ──────┴───────────┘
//
// All integers are little-endian. A file is a run of such records and nothing
// else; it has no version. Each crc is the CRC-32C (Castagnoli) of the bytes
// before it, rotated right by 15 bits, plus 0xa282ead8 ("masked", so that a CRC
// over data that holds CRCs stays good). The whole file may be one gzip or zlib
// stream, and its name need not say so.
//
// A plain file is read at random where it lies; a compressed one is held
// decompressed in memory. Opening checks every length, each read the data.
// Unlike TensorFlow, which takes a tail of fewer than 12 bytes for the end, a
// file that does not end with a record is an error.
//
// # tf.Example
//
//	Example  { 1: Features }            repeated: they merge
//	Features { 1: map<string, Feature> }   a duplicate key: the last one wins
//	Feature  { 1: BytesList | 2: FloatList | 3: Int64List }   none set: missing
//	lists    { 1: repeated }            packed or not
//
// A record has a label, one int64 or float, and either pairs of ids (int64) and
// values (float), or dense features (float). The names are options. As in
// TensorFlow an int64 list where floats are wanted is an error, no conversion.
// [Encoder] writes what TensorFlow's own fast parser takes: key before value,
// lists packed in one run.
package tfrecord
