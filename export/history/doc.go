// Package history keeps the events of a run: in a file of the folder of checkpoints, in memory for
// readers who come late, and in lines that a user has saved.
//
// # The file
//
// history.jsonl has one event a line, as [report.Line] writes it. Rank 0 appends while it holds the
// folder's lease, and a run that resumes goes on in the file. A line leaves in one write, so only the
// last line can be torn; [Open] cuts it.
//
// # Points of curves
//
// Steps, loads of ranks and evaluations are points of curves. Two points of a curve are at least a
// 500th of the time apart for which the run has gone, and at least 20 ms: 50 points in the first second,
// about 6,000 in ten days. Loads, of which a page shows the sums, are ten times as far apart. Steps and
// loads between two points are added up. An evaluation that lies closer loses its lists, not its numbers.
// All other events are kept.
//
// The time for which a run has gone leaves out the time between two attempts: the night between a stop
// and a resume counts for nothing.
package history
