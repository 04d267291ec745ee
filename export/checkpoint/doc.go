// Package checkpoint saves and restores the state of a training run.
//
// A folder of checkpoints looks like this:
//
//	dir/checkpoint                                       the list of checkpoints
//	dir/lease-000003                                     the lease of the writer
//	dir/step-000100/model.ckpt.index
//	dir/step-000100/model.ckpt.data-00000-of-00001
//	dir/step-000100/evaluation.json                      the [Evaluation], if there is one
//	dir/step-000200/…
//
// Each step folder is a TensorFlow checkpoint (package bundle). It holds variables and
// slot variables under their TensorFlow 1 names, global_step, and the [Run] as JSON in
// the string tensor _ringtrain/run. The file checkpoint has TensorFlow's format, so
// tf.train.latest_checkpoint and Saver.restore work on the folder. ../FORMAT.md has the
// details.
//
// # Atomicity
//
// Save writes and syncs a step folder under a temporary name and renames the folder.
// Then Save replaces the file checkpoint in the same way. Only then are old step folders
// renamed to temporary names and removed. A reader therefore finds the old or the new
// checkpoint at every moment, also after a power failure. A crash leaves only names with
// ".tmp-" in them. Readers ignore these names, and the next writer removes them.
//
// Only the write and rename of a step folder and of the file checkpoint can fail a Save.
// A file or folder that cannot be removed stays, and the [bundle.Disk] warns. No link is ever
// removed.
//
// # One writer
//
// [Claim] makes this process the folder's writer, with a higher attempt than all before.
// Any number of processes may read. A process that was suspended and replaced cannot
// publish after it resumes; a lock on a shared disk could not guarantee that. Each
// checkpoint stores its attempt, and readers order checkpoints by attempt, then by step:
//
//	A  claim 1 ── save ── … temporary, check, │ suspended            │ rename fails: no temporary
//	B                                         claim 2, sweep ── save ──  …
//
// # Errors
//
// Exit codes: [exitcode.CannotCreate] where the folder cannot be written,
// [exitcode.IO] for a full or broken disk, [exitcode.BadData] for a damaged
// checkpoint, [exitcode.NoInput] for none.
package checkpoint
