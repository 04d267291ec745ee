// Package tfrecord reads and writes TFRecord files of tf.Example, TensorFlow's format
// for training data.
//
// # Framing
//
//	0                       8           12                12+length    16+length
//	┌───────────────────────┬───────────┬─────────── … ──────┬───────────┐
//	│        length         │ length crc│        data        │ data crc  │
//	└───────────────────────┴───────────┴─────────── … ──────┴───────────┘
//
// All integers are little-endian. A file is a sequence of such records without a
// version. Each crc is the CRC-32C (Castagnoli) of the bytes before it, rotated right by
// 15 bits, plus 0xa282ead8 ("masked", because the CRC of data that contain CRCs is
// weak). The whole file may be one gzip, zlib or zstd stream with any name.
//
// A plain file is read by random access; a compressed one is decompressed to memory. Few
// plain files stay open. Open checks every length, and each read checks the data.
// TensorFlow takes a tail of fewer than 12 bytes for the end; here a file that does not end
// with a record is an error.
//
// # tf.Example
//
//	Example  { 1: Features }            repeated: they merge
//	Features { 1: map<string, Feature> }   a duplicate key: an error
//	Feature  { 1: BytesList | 2: FloatList | 3: Int64List }   none set: missing; two set: an error
//	lists    { 1: repeated }            packed or not
//
// A field that a message does not have is an error, too: it may hold what the record
// lacks, as the feature_lists of a SequenceExample do.
//
// A record has a label, one int64 or float, and either pairs of ids (int64) and values
// (float), or dense features (float), or columns. Options define the names. As in
// TensorFlow, an int64 list in place of floats is an error. A column that no training
// record has is an error of Open, or of JoinCounts (see input.Counting).
//
// [Encoder] writes the form that TensorFlow's fast parser accepts: key before value, lists
// packed contiguously.
package tfrecord
