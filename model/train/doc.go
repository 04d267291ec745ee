// Package train trains a job on one rank, in step with the other ranks. The package has more than 25 files
// because each task beside the loop, such as early stopping, has a file of its own.
//
// A job is a [job.Config]. [Prepare] opens its input and builds its model on this rank alone.
// [Trainer.Run] trains the model with a [Team], whose [ring.Group] joins this rank to the others:
//
//	Prepare ─► (join) ─► place variables ─► restore or init ─► broadcast ─► Loop.Run ─► checkpoint, evaluate, export, done
//	each rank            each rank          rank 0 alone       to all       each rank   rank 0 writes
//
// Four packages below do the work before and after the loop:
//
//	records    opens the training and evaluation records of a job, and builds its model
//	evaluate   computes metrics over all records, shared among the ranks
//	trained    reads checkpoints and bundles after training: evaluation, prediction, export, inspection
//	report     the events of a run
//
// # Generations
//
// When a worker is lost the generation ends, in any operation. The other workers keep their process
// and their state: variables and slots, the position in the data, choices by measurement, and the
// reports already made. The caller calls [Trainer.Run] again with the team of the next generation: on
// a new Trainer in the place of the lost worker, and on the same Trainer on all other ranks:
//
//	place gradients ─► gather the step of each  ─► broadcast the newest state ─► pending requests ─► Loop.Run ─► …
//	in the new arena   rank's state; no state:     from the lowest rank          of that step
//	                   restore as at the start     that holds it
//
// An update follows a complete sum and is made at once. So ranks differ by at most one step, and only
// the step in flight is repeated. With the same world size and layout the sums of the new generation
// are those of the old one, so the run ends with the bits of a run without an interruption. The
// process that is rank 0 reports each step, loss, evaluation and checkpoint once. A rank may also
// leave after a step: see [Team].Leave.
//
// # A step
//
// [Loop.Run] does the same on every rank:
//
//	input.Source ──► Forward ──► loss ─────────────────────┐
//	 this rank's        │                                  ▼
//	 share           Backward ──► gradients ──► buckets and tails ──► all-reduce
//	                  last layer   are views     full ones leave          │
//	                  first        into          while backward goes on   ▼
//	Optimizer.Apply ◄──── equal sums, tails and rows of all ranks ◄───────┘
//
// Beside the sums each bucket carries every rank's tail: its loss, its number of examples, and its
// requests for the end of this step. [Agreed] folds the tails. So a stop, a checkpoint, an evaluation or
// the change of the links' keys happens after the same step on all ranks, and a signal to one rank stops
// all ranks. Only rank 0 asks for checkpoints and evaluations that are due, by its own clock if they are
// due by time. Any rank may ask for a checkpoint besides those.
//
// # Choices by measurement
//
// With allreduce.codec auto, the default, the ranks time their first three steps and agree on the
// worst of their measurements. Package ring/cost chooses a codec from these, once for the whole run. A
// [report.Decision] gives the choice, its reason and its gain. A checkpoint stores the choice, so a
// run that resumes uses the same codec. If all gradients stay in the memory of one host, or if the
// buckets are small, the ranks measure nothing and use no codec.
//
// # Codecs of a job
//
// Besides the codecs of package codec, allreduce.codec may be powersgd or powersgd:R, which auto never
// chooses. Large matrices then travel as factors of rank R, 4 by default, from the step that a
// [report.Decision] names. The rows of tables travel without a codec.
//
// # Invariants
//
//   - All ranks start from the same bits, which rank 0 sends, and apply the same updates. So replicas
//     are equal bit for bit after every step. The ranks compare them every train.check_every steps,
//     before each checkpoint, and at the end.
//   - The result of a step depends on the global batch and the variables. The world size changes only
//     the order of sums, and so their rounding. Metrics of equal variables are equal bit for bit at
//     any world size.
//   - With an exact codec a run that resumes has the bits of a run without a stop. A schedule covers
//     the steps that the run now has.
//   - A printed loss is the mean per example, for any loss.reduction.
//   - A step allocates nothing.
//   - Only rank 0 writes output to the disk and emits events.
//
// # Errors
//
// Errors carry the exit codes of package exitcode. Faults of the job are Usage, all at once. Faults of
// the input are NoInput and BadData. Outputs that cannot be written are found before the first step:
// CannotCreate.
//
// A loss or gradient that is not finite (NotFinite) and a replica that differs (Diverged) are a
// [ring.Cause], equal on all ranks. It names the rank at fault if there is one.
//
// A checkpoint or an evaluation that fails during training is a [report.Warning], and training
// continues; a failure of the last checkpoint is IO. If another process has claimed the folder of
// checkpoints, the error is Retry.
//
// Any other error belongs to the rank that returns it. The caller informs the other ranks, by ending
// the context of their Run. After an error of the generation, Run can be called again, as above. The
// last checkpoint is whole in all cases.
package train
