// Package bundle writes and reads tensor bundles: the files of a TensorFlow
// checkpoint (V2) and of a SavedModel's variables.
//
// A bundle has a prefix P and these files:
//
//	P.index                   names, types, shapes, places and checksums
//	P.data-00000-of-00001     the values, one tensor after another
//
// [Write] makes one shard whose bytes equal those of TensorFlow's SaveV2.
// [Open] reads what any TensorFlow since 1.0 has written: several shards,
// string tensors, Snappy blocks. It refuses, in words, checkpoints of the old
// V1 format, big-endian ones, and partitioned tensors (slices). The layout,
// byte by byte, is in ../FORMAT.md.
//
// # Trust
//
// A bundle may come from anywhere. No length of a file is believed before it
// was compared with what the file really holds, and every block and tensor has
// a CRC-32C that is checked before its bytes are used. A damaged bundle is an
// error that names file, offset and tensor, with [exitcode.BadData].
//
// # Durability
//
// Files are written through an [FS], so that tests can let each call fail. A
// bundle by itself is not atomic: callers write it into a folder that does not
// count yet, and rename the folder. [Fault] gives an error of the disk its exit
// code.
package bundle
