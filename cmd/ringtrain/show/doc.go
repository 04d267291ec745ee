// Package show is what a person or a program sees of a run: the events of a [Reporter] as sentences
// or as lines of JSON, the tables of status, doctor, inspect and data, and the terminal's screen
// with its bar.
//
// A fact is a [report.Event] once. [Line] is its JSON and [Sentence] its text; both come from the
// same value, so that --json tells what a person reads.
//
//	trainer, doctor, bench ── report.Event ──► Reporter ──► Line      standard output with --json
//	                                                   └──► Sentence  ──► screen ──► bar
//
// Under run the launcher reads the ranks' lines. An [ErrorWatch] keeps the error event of rank 0 back
// until the launcher knows the first cause. [JoinCauses] makes one line of the equal causes of ranks.
package show
