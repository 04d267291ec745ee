// Package bundle writes and reads tensor bundles: the files of a TensorFlow
// checkpoint (V2) and of a SavedModel's variables.
//
// A bundle has a prefix P and these files:
//
//	P.index                   names, types, shapes, places and checksums
//	P.data-00000-of-00001     the values, one tensor after another
//
// [Write] makes one shard. Its bytes equal those of TensorFlow's SaveV2. [Open] reads
// the bundles of every TensorFlow since 1.0: several shards, string tensors, Snappy
// blocks. Open refuses checkpoints of the old V1 format, big-endian bundles and
// partitioned tensors (slices); the error names the reason. ../FORMAT.md has the layout
// byte by byte.
//
// # Trust
//
// A bundle may come from an untrusted source. The reader compares every length with the
// size of the file before it uses the length, and verifies the CRC-32C of every block
// and tensor before it uses the bytes. A damaged bundle is an error with
// [exitcode.BadData] that names file, offset and tensor.
//
// # Durability
//
// Files are written through an [FS], so that tests can let each call fail. A bundle by
// itself is not atomic: the caller writes the bundle into a temporary folder and renames
// the folder. [Fault] adds the exit code to an error of the disk.
package bundle
