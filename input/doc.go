// Package input brings the records of files to the ranks of a job.
//
// A [Dataset] gives random access to the records of a list of files; the
// formats lie in the folders below (idx, tfrecord, libsvm, text, synth) and package
// input/convert opens any of them. A [Source] walks over a data set, epoch after
// epoch, and hands each rank its share of every global batch:
//
//	records   0 1 2 3 4 5 6 7 8 9                 the order of the files
//	              │ keyed permutation of (seed, epoch, number of records)
//	epoch     7 2 9 0 5 3 8 1 6 4                 the same on every rank
//	          └──────┬┘└─────┬┘└┬┘
//	step         0       1     2                  global batch of 4, the last is short
//	          ├──┬───┤
//	rank      0  │ 1 │                            a rank's share is contiguous
//
// Every rank computes the order alone, record by record and without a table, so
// no list is ever sent or held.
//
// Records of text lie in blocks of 64 KiB, which are read whole (see [Blocked]). Where there
// are more than [WindowBlocks] of them, the blocks are permuted, and then the records within
// each window of blocks. Within a global batch these records are arranged by block, so that a rank
// needs about its share of the blocks: it reads those once an epoch, and holds two windows.
//
// # Invariants
//
//   - Each record is in exactly one global batch of an epoch, and in exactly one
//     rank's share of it. Nothing is padded, repeated or dropped.
//   - The order depends on seed, epoch and number of records only, or that of
//     each block: any world size reads the same global batches.
//   - A [Position] says how much all ranks together have consumed. A run that
//     resumes there, at this or another world size, goes on with the next global
//     batch. What was read ahead is not counted.
//
// # Files
//
// [Expand] finds files, [OpenFile] and [OpenRaw] open them, and [Create] writes
// them beside their place and renames them when they are whole. A missing file
// carries the code exitcode.NoInput, a broken one exitcode.BadData, and what
// the disk refuses exitcode.IO or exitcode.CannotCreate.
package input
