// Package input reads the records of files for the ranks of a job.
//
// A [Dataset] gives random access to the records of a list of files. The formats are in
// the folders below (idx, tfrecord, libsvm, text, synth), and package input/convert
// opens any of them. A [Source] traverses a data set, epoch after epoch, and gives each
// rank its share of every global batch:
//
//	records   0 1 2 3 4 5 6 7 8 9                 the order of the files
//	              │ keyed permutation of (seed, epoch, number of records)
//	epoch     7 2 9 0 5 3 8 1 6 4                 the same on every rank
//	          └──────┬┘└─────┬┘└┬┘
//	step         0       1     2                  global batch of 4, the last is short
//	          ├──┬───┤
//	rank      0  │ 1 │                            a rank's share is contiguous
//
// Every rank computes the order independently, record by record and without a table.
//
// Records of text are in blocks of 64 KiB, which are read whole (see [Facts]). If
// there are more than [WindowBlocks] blocks, the blocks are permuted, and then the
// records within each window of blocks. Within a global batch these records are arranged
// by block, so that a rank needs about its share of the blocks. It reads each block once
// per epoch and keeps two windows in memory.
//
// # Invariants
//
//   - Each record is in exactly one global batch of an epoch, and in exactly one rank's share of it. No record is padded, repeated or dropped.
//   - The order depends only on seed, epoch and the number of records, in total or per block: every world size reads the same global batches.
//   - A [Position] is the number of records that all ranks together have consumed. A run that resumes there, with any world size, continues with the next global batch. Prefetched batches do not count.
//
// # Files
//
// [Expand] finds files, and [OpenFile] and [OpenRaw] open them. [Create] writes a file
// under a temporary name and renames it when it is complete. The exit code is
// exitcode.NoInput for a missing file, exitcode.BadData for a broken one, and
// exitcode.IO or exitcode.CannotCreate for a failure of the disk.
package input
