// Package show is what a person or a program sees of a run: the events of a [Reporter] as sentences
// or as lines of JSON, the tables of status, doctor, inspect and data, and the terminal's screen
// with its bar.
//
// A fact is a [report.Event] once. [report.Line] is its JSON and [Sentence] its text; both come from the
// same value, so that --json tells what a person reads. All that shows a run is a [View] of one stream:
//
//	rank 0 under run JOB   trainer ──► Reporter.Event ──► JSON, each event as it comes
//	its launcher           lines   ──► Reporter.Read ──┬► Views
//	                                                   └► lines: JSON, or sentences ──► screen
//	rank 0 elsewhere       trainer ──► Reporter.Event ──► as in the launcher
//
// The launcher keeps the error event of rank 0 back until it knows the first cause.
package show
