// Package events writes TensorBoard's event files, and reads their scalars back.
//
// An event file is a TFRecord file, uncompressed, each record of which is one Event:
//
//	record 0   Event{wall_time, file_version "brain.Event:2", source_metadata}
//	record 1   Event{wall_time, step s, session_log START}    steps from s on are to come
//	record 2…  Event{wall_time, step, summary{value{tag, simple_value}…}}
//
// Package tfpb has the messages. TensorBoard reads any file with "tfevents" in its
// name; those of one folder are one run, and are read in the order of their names:
//
//	events.out.tfevents.1763900000.host-a.4711.0
//	                    seconds    host   process
//
// # One curve
//
// Each process writes a file of its own, and never into another's. A process that
// resumes a run repeats steps that another one has written before it died. Both of
// TensorBoard's loaders then show one curve: one drops, on START, all points from its
// step on; the other drops, as a point comes, those of its tag that are not before it.
// Points of the step that the run resumes at would come twice where a run ends with
// them, so [Create] reads what is there, and a [Writer] leaves out what is no step
// further.
//
// # Failures
//
// [Writer.Add] never waits for the disk: events that follow each other fast are written
// together, five times a second, and so a process that is killed loses those of 200 ms.
// The Writer keeps events that it cannot write, up to a bound, and writes them with the next event.
// [Writer.Fault] reports that. The file holds whole records at any time, but for the
// last one.
package events
