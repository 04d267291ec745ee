// Package checkpoint saves and restores the state of a training run.
//
// A folder of checkpoints looks like this:
//
//	dir/checkpoint                                       which there are
//	dir/lease-000003                                     who writes
//	dir/step-000100/model.ckpt.index
//	dir/step-000100/model.ckpt.data-00000-of-00001
//	dir/step-000200/…
//
// Each step folder is a TensorFlow checkpoint (package bundle): variables and
// slot variables under their TensorFlow 1 names, global_step, and what
// TensorFlow does not know, the [Run], as JSON in the string _ringtrain/run. The
// file checkpoint is TensorFlow's too, so tf.train.latest_checkpoint and
// Saver.restore work on the folder. ../FORMAT.md has the details.
//
// # Whole or absent
//
// A step folder is written under another name, its files and itself synced, and
// then renamed; after that the file checkpoint is replaced in the same way; only
// then are old step folders renamed out of the way and removed. So at every
// moment, also after a power failure, a reader finds the old checkpoint or the
// new one. What a crash leaves has a name with ".tmp-" in it; readers pass over
// it, and the next writer removes it.
//
// # One writer
//
// [Claim] makes this process the folder's writer, with an attempt that is higher than
// all before it; any number may read. A process that stood still, was replaced and wakes
// publishes nothing any more: a lock on a shared disk could not promise that. What is
// stored carries the attempt, and readers order by it, then by step:
//
//	A  claim 1 ── save ── … temporary, look, │ stands still           │ rename: the temporary is gone
//	B                                        claim 2, sweep ── save ──  …
//
// # Errors
//
// Exit codes: [exitcode.CannotCreate] where the folder cannot be written,
// [exitcode.IO] for a full or broken disk, [exitcode.BadData] for a damaged
// checkpoint, [exitcode.NoInput] for none.
package checkpoint
