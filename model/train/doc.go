// Package train trains a job on one rank, in step with the other ranks.
//
// A [Job] is what a job file says; [LoadJob] reads one, with what the
// environment and the command line set. [Prepare] opens its input and builds its
// model on this rank alone, and [Trainer.Run] trains it with a [Team], whose
// [ring.Group] joins it to the others:
//
//	Prepare ─► (meet) ─► place variables ─► restore or init ─► broadcast ─► Loop.Run ─► checkpoint, evaluate, export, done
//	each rank            each rank          rank 0 alone       to all       each rank   rank 0 writes
//
// # Generations
//
// When a worker is lost the generation ends in whatever the ranks were doing. The
// living keep their process and what they hold: variables and slots, the place in
// the data, what is chosen, what they have told. [Trainer.Run] is called again
// with the team of the next generation, on a fresh Trainer in the place of the lost
// one, and on all others on the same as before:
//
//	place gradients ─► gather: who holds which step ─► broadcast the newest ─► what is left to do ─► Loop.Run ─► …
//	in the new arena   nobody: as at the start         lowest rank with it     of that step
//
// An update follows a complete sum and is made at once, so ranks differ by one
// step at most, and only the step in flight is repeated. The sums of the new
// generation are those of the old one, where size and layout are, so that the run
// ends with the bits that it would have had. Steps, losses, evaluations and
// checkpoints are told once by the process that is rank 0. A rank may also leave by
// agreement, after a step: [Options].Depart, [Departed].
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
// Beside the sums each bucket carries every rank's tail: its loss, its number of
// examples, and what it asks for after this step. [Agreed] is what they come to.
// So a stop, a checkpoint or an evaluation happens after the same step on all
// ranks, and a signal that one rank gets stops them all. Rank 0 alone asks for
// checkpoints and evaluations that are due; its clock decides where that goes by
// time. Any rank may ask for a checkpoint beside those.
//
// # What is chosen by measurement
//
// With allreduce.codec auto, the default, the ranks time their first three steps,
// agree on the worst of what they have measured, and choose a codec by package
// ring/cost, once for the whole run: a [Decision] says which and why, and what it
// was good for. Checkpoints keep it, so that a run that resumes goes on with the
// same codec. Where all gradients stay in the memory of one host, and where the
// buckets are small, nothing is measured and no codec used.
//
// # Codecs of a job
//
// Besides the codecs of package codec, allreduce.codec may be powersgd or
// powersgd:R, which auto never chooses: large matrices travel as factors of rank
// R, 4 unless given, from the step on that a [Decision] names. No codec touches
// the rows of tables.
//
// # Who does what
//
//	Job, LoadJob, Options     the job file; keys, places of faults
//	Trainer, Team             one rank, before and while it trains
//	Loop                      the steps
//	Evaluator                 metrics over a data set, shared among the ranks
//	Event, Trace              what happened, for people and programs
//	Saved, Inspect            checkpoints and bundles after training
//
// # Invariants
//
//   - All ranks start from the same bits, which rank 0 sends, and apply the same
//     updates: replicas are equal to the bit after every step. They are compared
//     every train.check_every steps, before each checkpoint, and at the end.
//   - What a step computes depends on the global batch and the variables. The
//     world size changes the order of sums, and so no more than their rounding;
//     metrics of equal variables are equal to the bit at any world size.
//   - Resuming is no event: with an exact codec, steps before and after a restart
//     give the bits of a run without one. A schedule runs over the steps of the
//     run as first started, which checkpoints remember.
//   - A loss that is printed is the mean per example, whatever loss.reduction is.
//   - A step allocates nothing.
//   - Rank 0 alone touches the disk for output, and emits the events.
//
// # Errors
//
// Errors carry the exit codes of package exitcode. What is wrong with the job is
// Usage, all of it at once; input has NoInput and BadData. Outputs that cannot be
// written are found before the first step: CannotCreate. A loss or gradient that
// is not finite (NotFinite) and a replica that differs (Diverged) are a
// [ring.Cause], the same on all ranks, which names the rank at fault if it is one
// rank's. A checkpoint or an evaluation that fails amid training is a [Warning], and
// training goes on; the last checkpoint is IO. If another process has taken over the
// folder of checkpoints, it is Retry.
//
// Any other error belongs to the rank that returns it: the caller tells
// the others, by ending the context of their Run. After one that belongs to the
// generation, not to the job, Run can be called again, as above; the last
// checkpoint is whole whatever happens.
package train
