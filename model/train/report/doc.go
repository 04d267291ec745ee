// Package report has the events of a run: its start, steps, evaluations, choices, outputs, warnings
// and end.
//
// An [Event] has a JSON form, which is one line of --json, and a Kind, which is the value of the field
// "event". Package train emits events through a [Trace], on rank 0 only. Commands format them for
// people.
package report
